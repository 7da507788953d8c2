package guard

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
)

// A standing is how well a Host is known.
type standing int

const (
	unknown  standing = iota
	accepted          // nobody has said which hosts there are
	known             // it is certain that the client means this server
)

// host looks at a request's Host. A page whose name is made to point at this machine (DNS rebinding) arrives with that name,
// so on loopback only names count that are this machine's, and elsewhere an address is as good as a known name:
// there is nothing to rebind.
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
	case len(g.hosts) == 0 && !local.IsLoopback():
		return accepted
	}
	return unknown
}

// localAddr is the address that a request has come to; loopback, which is the strictest, when there is none to know.
func localAddr(r *http.Request) netip.Addr {
	a, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if a != nil {
		if at, err := netip.ParseAddrPort(a.String()); err == nil {
			return at.Addr().Unmap().WithZone("")
		}
	}
	return netip.IPv6Loopback()
}

var hostForm = regexp.MustCompile(`^(?:([a-z0-9._-]{1,255})|\[([0-9a-f:.]{2,45})\])(?::([0-9]{1,5}))?$`)

// splitHost splits a Host into a name or address, in lower case and without brackets, and a port, which may be "".
func splitHost(host string) (name, port string, ok bool) {
	m := hostForm.FindStringSubmatch(strings.ToLower(host))
	if m == nil {
		return "", "", false
	}
	return m[1] + m[2], m[3], true
}

// bracketed is a name as a Host has it.
func bracketed(name string) string {
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}
