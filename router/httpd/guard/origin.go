package guard

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A hostClass tells whether the Host of a request can be trusted.
type hostClass int

const (
	unknownHost  hostClass = iota
	possibleHost           // nothing speaks against it, but the allowed hosts are not configured
	ownHost                // the client certainly means this server
)

// host classifies a request's Host. A page whose name is made to point at this machine (DNS
// rebinding) sends that name. So on loopback only names of this machine count. On other addresses,
// the address itself counts too; without allowed hosts, so does everything that cannot be such a
// page: any address, localhost, and any name if requests need a credential, which no page has.
func (g *Guard) host(r *http.Request) hostClass {
	name, port, ok := splitHost(r.Host)
	local := localAddr(r)
	addr, err := netip.ParseAddr(name)
	addr = addr.Unmap()
	switch {
	case !ok:
		return unknownHost
	case slices.Contains(g.AllowedHosts, bracketed(name)), slices.Contains(g.AllowedHosts, bracketed(name)+":"+port),
		err == nil && (addr == local || addr.IsLoopback() && local.IsLoopback()),
		name == "localhost" && local.IsLoopback():
		return ownHost
	case len(g.AllowedHosts) == 0 && !local.IsLoopback() && (err == nil || name == "localhost" || g.Authenticates()):
		return possibleHost
	}
	return unknownHost
}

// localAddr returns the address to which a request was sent; loopback, the strictest, if it is not
// known.
func localAddr(r *http.Request) netip.Addr {
	a, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if at := a.AddrPort().Addr(); at.IsValid() {
		return at.Unmap().WithZone("")
	}
	return netip.IPv6Loopback()
}

// splitHost splits a Host into a name or address, in lower case and without brackets, and a port,
// which may be "".
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

// only reports whether text consists of letters, digits and these characters, and is not empty.
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

// bracketed returns a name or address as a Host has it.
func bracketed(name string) string {
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}

// origin returns the origin of the page that sends a request, "" for none, and whether it is
// allowed. Only browsers send it, and with every POST. With a GET for an image, a script or a link
// they do not: see crossSite.
func (g *Guard) origin(r *http.Request) (origin string, ok bool) {
	all := r.Header.Values("Origin")
	if len(all) == 0 {
		return "", true
	}
	origin = strings.Join(all, ", ")
	isIt := func(allowed string) bool { return normalOrigin(allowed) == normalOrigin(origin) }
	return origin, len(all) == 1 && (slices.ContainsFunc(g.AllowedOrigins, isIt) || g.isOwn(r, origin))
}

// crossSite refuses a request without an Origin that a page of another site makes a browser send.
// Current browsers say so in Sec-Fetch-Site, which no page can set
// (https://www.w3.org/TR/fetch-metadata). The Origin of other requests has been checked before.
func crossSite(r *http.Request) *refusal {
	if r.Header.Get("Origin") != "" {
		return nil
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" { // none: the user has typed the address
			return forbidden("pages of other sites may not use this server (Sec-Fetch-Site: %s): to let a page, write its origin into allowed_origins in [http] and have it send its requests with fetch in mode cors", site)
		}
	}
	return nil
}

// isOwn reports whether an origin is this server. The scheme is not compared: TLS may end at a
// proxy.
func (g *Guard) isOwn(r *http.Request, origin string) bool {
	scheme, host, _ := strings.Cut(strings.ToLower(origin), "://")
	return (scheme == "http" || scheme == "https") && host == strings.ToLower(r.Host) && g.host(r) == ownHost
}

// normalOrigin returns an origin as browsers write it: without the default port of its scheme.
func normalOrigin(origin string) string {
	origin = strings.ToLower(origin)
	switch scheme, _, _ := strings.Cut(origin, "://"); scheme {
	case "http":
		return strings.TrimSuffix(origin, ":80")
	case "https":
		return strings.TrimSuffix(origin, ":443")
	}
	return origin
}

// isTokenList reports whether text can be a list of header names (RFC 9110, 5.6.1 and 5.6.2).
func isTokenList(text string) bool { return only(text, "!#$%&'*+.^_`|~, -") }

// cors allows pages of an allowed origin to read the response. It answers preflights
// (https://fetch.spec.whatwg.org, HTTP-network-or-cache fetch; a wildcard would not include
// Authorization).
func cors(w http.ResponseWriter, r *http.Request, origin string) (answered bool) {
	h := w.Header()
	h.Add("Vary", "Origin")
	if origin == "" {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); isTokenList(asked) {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
