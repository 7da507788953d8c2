package guard

import (
	"net/http"
	"strings"
)

// origin is where the page is from that makes a request, "" for none, and whether it may. Only browsers send it, and they
// always do with a POST. With a GET for an image, a script or a link they do not: see crossSite.
func (g *Guard) origin(r *http.Request) (origin string, ok bool) {
	all := r.Header.Values("Origin")
	if len(all) == 0 {
		return "", true
	}
	origin = strings.Join(all, ", ")
	return origin, len(all) == 1 && (g.origins[normalOrigin(origin)] || g.own(r, origin))
}

// crossSite refuses a request that a page of another site makes a browser send without an Origin. Current browsers
// say so in Sec-Fetch-Site, which no page can set (https://www.w3.org/TR/fetch-metadata). A request with an Origin
// comes here only if that may use the server.
func crossSite(r *http.Request) *refusal {
	if r.Header.Get("Origin") != "" {
		return nil
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" { // none: the user has typed the address
			return refusedSite(site)
		}
	}
	return nil
}

// own reports whether an origin is this server itself. The scheme is not compared: TLS may end at a proxy.
func (g *Guard) own(r *http.Request, origin string) bool {
	scheme, host, _ := strings.Cut(strings.ToLower(origin), "://")
	return (scheme == "http" || scheme == "https") && host == strings.ToLower(r.Host) && g.host(r) == known
}

// normalOrigin is an origin without the port that is its scheme's own, as browsers write it.
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
func isTokenList(text string) bool {
	other := strings.IndexFunc(text, func(c rune) bool { return !isAlphanumeric(c) && !strings.ContainsRune("!#$%&'*+.^_`|~, -", c) })
	return other < 0 && text != ""
}

// cors tells a browser that pages of an origin, which is allowed, may read the answers. It answers preflights.
// (https://fetch.spec.whatwg.org, HTTP-network-or-cache fetch; a wildcard would not stand for Authorization.)
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
