package httpclient

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// isMetadata reports whether an address is one at which a cloud tells secrets to its machines: of
// AWS, Google and most others, of AWS for containers, of AWS and Google over IPv6, of Alibaba, of
// Oracle, of Azure.
func isMetadata(addr netip.Addr) bool {
	switch within(addr).String() {
	case "169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16":
		return true
	}
	return false
}

// isMetadataName reports whether a host is such an address by its name. Only a proxy has to be kept
// from these.
func isMetadataName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "metadata.google.internal" || host == "metadata"
}

// IsPublic reports whether an address belongs to the public Internet.
func IsPublic(addr netip.Addr) bool {
	addr = within(addr)
	if !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	if addr.Is6() {
		head := addr.As16()
		return head[0]>>5 == 1 && // 2000::/3 is all that is assigned
			!(head[0] == 0x20 && head[1] == 0x01 && (head[2] < 2 || head[2] == 0x0d && head[3] == 0xb8)) // Teredo and others, documentation
	}
	b := addr.As4() // see RFC 6890; package netip knows the others
	return !(b[0] == 0 || b[0] >= 240 || b[0] == 100 && b[1]>>6 == 1 || b[0] == 198 && b[1]>>1 == 9 ||
		b[2] == 0 && b[0] == 192 && b[1] == 0 || b[2] == 2 && b[0] == 192 && b[1] == 0 ||
		b[2] == 100 && b[0] == 198 && b[1] == 51 || b[2] == 113 && b[0] == 203 && b[1] == 0)
}

// IsLoopback reports whether a host, a name or an address, is this machine.
func IsLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// within returns the address of IPv4 that one of IPv6 leads to: mapped (::ffff:0:0/96), compatible
// (::/96), of NAT64 (64:ff9b::/96) or of 6to4 (2002::/16). Others it returns without a zone.
func within(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr
	}
	b := addr.As16()
	switch {
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6]))
	case [12]byte(b[:12]) == [12]byte{1: 0x64, 2: 0xff, 3: 0x9b},
		[12]byte(b[:12]) == [12]byte{} && b[12] != 0: // not ::1 and ::
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}

// Private reports whether none of the addresses of a host is public, so that the servers which the
// one at this host names need not be public either. It looks the host up: who has the name can
// answer this lookup in another way than the one for a connection.
func Private(ctx context.Context, host string) bool {
	if addr, ok := literal(host); ok {
		return !IsPublic(addr)
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return err == nil && len(all) > 0 && !slices.ContainsFunc(all, IsPublic)
}
