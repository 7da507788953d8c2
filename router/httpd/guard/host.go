package guard

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// A standing is how well a Host is known.
type standing int

const (
	unknown  standing = iota
	accepted          // nobody has said which hosts there are
	known             // it is certain that the client means this server
)

// host looks at a request's Host. A page whose name is made to point at this machine (DNS rebinding) arrives with that name.
// So on loopback only names count that are this machine's. Elsewhere its address counts, too, and without allowed hosts
// whatever cannot be such a page: any address, localhost, and any name once a request needs a credential, which no page has.
func (g *Guard) host(r *http.Request) standing {
	name, port, ok := splitHost(r.Host)
	local := localAddr(r)
	addr, err := netip.ParseAddr(name)
	addr = addr.Unmap()
	switch {
	case !ok:
		return unknown
	case g.hosts[bracketed(name)] || g.hosts[bracketed(name)+":"+port]:
		return known
	case err == nil && (addr == local || addr.IsLoopback() && local.IsLoopback()):
		return known
	case name == "localhost" && local.IsLoopback():
		return known
	case len(g.hosts) == 0 && !local.IsLoopback() && (err == nil || name == "localhost" || g.Authenticates()):
		return accepted
	}
	return unknown
}

// localAddr is the address that a request has come to; loopback, which is the strictest, when there is none to know.
func localAddr(r *http.Request) netip.Addr {
	a, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if at := a.AddrPort().Addr(); at.IsValid() {
		return at.Unmap().WithZone("")
	}
	return netip.IPv6Loopback()
}

// splitHost splits a Host into a name or address, in lower case and without brackets, and a port, which may be "".
func splitHost(host string) (name, port string, ok bool) {
	name = strings.ToLower(host)
	var rest string
	if end := strings.IndexByte(name, ']'); end > 0 && name[0] == '[' {
		name, rest = name[1:end], name[end+1:]
		a, err := netip.ParseAddr(name)
		ok = err == nil && a.Is6() && a.Zone() == ""
	} else {
		if colon := strings.IndexByte(name, ':'); colon >= 0 {
			name, rest = name[:colon], name[colon:]
		}
		ok = only(name, "._-")
	}
	if rest == "" {
		return name, "", ok
	}
	_, err := strconv.ParseUint(rest[1:], 10, 16)
	return name, rest[1:], ok && rest[0] == ':' && err == nil
}

// only reports whether text has letters, digits and these characters, and at least one of them.
func only(text, others string) bool {
	for i := range len(text) {
		c := text[i]
		letter, digit := c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9'
		if !letter && !digit && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return text != ""
}

// bracketed is a name as a Host has it.
func bracketed(name string) string {
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}
