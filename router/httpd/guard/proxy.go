package guard

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"toolman/router/budget"
)

// Headers of trusted proxies.
const (
	clientIDHeader    = "Mcp-Client-Id"
	permissionsHeader = "Mcp-Toolset-Permissions"
)

// trusted reports whether an address is that of a trusted proxy.
func (g *Guard) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(g.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// peer returns the address at the other end of the connection.
func peer(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// maxHops is how many addresses of X-Forwarded-For are read.
const maxHops = 32

// address returns the client's address: the last one that a trusted proxy has added and that is not
// that of a trusted proxy.
func (g *Guard) address(r *http.Request) netip.Addr {
	at := peer(r)
	if !g.trusted(at) {
		return at
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	slices.Reverse(hops)
	for _, hop := range hops[:min(len(hops), maxHops)] {
		a, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if at = a.Unmap().WithZone(""); !g.trusted(at) {
			break
		}
	}
	return at
}

// externalURL returns scheme://host as the client sees it; "" if that is not known.
func (g *Guard) externalURL(r *http.Request) string {
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if g.trusted(peer(r)) {
		if said := r.Header.Get("X-Forwarded-Proto"); said == "http" || said == "https" {
			scheme = said
		}
		if said := r.Header.Get("X-Forwarded-Host"); said != "" {
			host = said
		}
	}
	if _, _, ok := splitHost(host); !ok {
		return ""
	}
	return scheme + "://" + strings.ToLower(host)
}

// isClientID reports whether id is 1 to 128 visible ASCII characters except commas, with which
// proxies join values.
func isClientID(id string) bool {
	other := strings.IndexFunc(id, func(c rune) bool { return c <= ' ' || c > '~' || c == ',' })
	return other < 0 && 0 < len(id) && len(id) <= 128
}

// isToolset reports whether name can be that of a toolset.
func isToolset(name string) bool { return only(name, "_.-") && len(name) <= 64 }

// fromProxy adds what a trusted proxy says about the client. The headers of others do not count.
// problem says what is wrong with them; "" is nothing.
func (g *Guard) fromProxy(r *http.Request, p *budget.Principal) (problem string) {
	trusted := g.trusted(peer(r))
	if trusted {
		id, problem := clientID(r.Header.Values(clientIDHeader))
		if problem != "" {
			return problem
		}
		if id != "" {
			p.ClientID = id
		}
		if said, ok := r.Header[permissionsHeader]; ok {
			p.Restricted, p.Toolsets = true, budget.Join(permissions(said))
		}
	}
	if !g.RequireClientID || p.ClientID != "" || r.URL.Path != "/mcp" && !strings.HasPrefix(r.URL.Path, "/mcp/") {
		return ""
	}
	if !trusted && r.Header.Get(clientIDHeader) != "" {
		return "mcp-client-id counts only from an address in trusted_proxies, and the request is from none"
	}
	return "Missing required mcp-client-id header" // as toolception says it
}

// clientID returns the value of mcp-client-id; "" if there is none.
func clientID(values []string) (id, problem string) {
	switch {
	case len(values) == 0:
		return "", ""
	case len(values) > 1:
		return "", "there is more than one mcp-client-id header"
	case strings.TrimSpace(values[0]) == "":
		return "", "mcp-client-id header must not be empty"
	case !isClientID(values[0]):
		return "", "mcp-client-id has to be up to 128 visible ASCII characters, without commas"
	}
	return values[0], ""
}

const maxPermissions = 256

// permissions returns the toolsets in mcp-toolset-permissions. A value that is not valid as a whole
// allows nothing.
func permissions(values []string) []string {
	if len(values) != 1 || strings.Count(values[0], ",") >= maxPermissions {
		return nil
	}
	var names []string
	for name := range strings.SplitSeq(values[0], ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(names, name):
		case !isToolset(name):
			return nil
		default:
			names = append(names, name)
		}
	}
	return names
}
