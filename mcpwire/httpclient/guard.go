package httpclient

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	guardedTime      = 20 * time.Second // for a response; tokens that come later would be lost
	guardedRedirects = 3
)

// A Guard says which hosts a client may send requests to whose URLs come from a server that is not
// trusted. Without any field it is https to public addresses. The addresses at which clouds tell
// secrets to their machines are never allowed.
type Guard struct {
	HTTP    bool     // http is allowed
	Private bool     // addresses that are not public are allowed; see [Private]
	Named   []string // hosts of which the user has given the URL: for these both are allowed
	CAFile  string   // as for [New]

	resolver *net.Resolver // nil: the default one
}

// NewGuarded returns a client that follows the rules of a Guard. It checks the URL of each request
// and redirect, and each address when it connects, so that it does not matter what a lookup of the
// host answers another time. Through a proxy it can check URLs only. It follows few redirects, and
// only those of a GET: other requests have secrets in their bodies.
func NewGuarded(g Guard) (*http.Client, error) {
	direct, err := NewTransport(g.CAFile)
	if err != nil {
		return nil, err
	}
	proxied := direct.Clone()
	direct.Proxy = nil
	direct.DialContext = g.dial
	return &http.Client{Transport: &guarded{g, direct, proxied}, CheckRedirect: g.checkRedirect, Timeout: guardedTime}, nil
}

// A guarded is the transport of a client with a Guard.
type guarded struct {
	guard           Guard
	direct, proxied *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.guard.check(req.URL); err != nil {
		return nil, err
	}
	if proxy, err := t.proxied.Proxy(req); err != nil || proxy != nil {
		return t.proxied.RoundTrip(req)
	}
	return t.direct.RoundTrip(req)
}

// CloseIdleConnections is for http.Client.
func (t *guarded) CloseIdleConnections() {
	t.direct.CloseIdleConnections()
	t.proxied.CloseIdleConnections()
}

// names reports whether the user has given the URL of a host.
func (g *Guard) names(host string) bool {
	return slices.ContainsFunc(g.Named, func(named string) bool { return strings.EqualFold(named, host) })
}

// check returns an error for a URL that no request is sent to.
func (g *Guard) check(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Scheme != "https" && u.Scheme != "http", host == "", u.User != nil:
		return plainError("the URL " + Shown(u) + " is not used: it must start with https:// and contain a host, and no user")
	case u.Scheme == "http" && !g.HTTP && !g.names(host):
		return plainError("the URL " + Shown(u) + " is not used: it does not start with https://")
	case isMetadataName(host):
		return forbidden(host, "", "tells secrets to the machines of a cloud")
	}
	if addr, ok := literal(host); ok {
		return g.checkAddr(host, addr)
	}
	if last := host[strings.LastIndexByte(strings.TrimSuffix(host, "."), '.')+1:]; last[0] >= '0' && last[0] <= '9' {
		return forbidden(host, "", "is neither a name nor an address") // some resolvers take it for an address
	}
	return nil
}

// literal returns the address that a host is.
func literal(host string) (netip.Addr, bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}

// dial connects to a host. It checks the addresses that the lookup answers.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialTime, Resolver: g.resolver, Control: func(_, found string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(found)
		if err != nil {
			return err
		}
		return g.checkAddr(host, at.Addr())
	}}
	return d.DialContext(ctx, network, address)
}

// checkAddr returns an error for an address that a host must not have.
func (g *Guard) checkAddr(host string, addr netip.Addr) error {
	shown := ""
	if addr.String() != host {
		shown = " at " + addr.String()
	}
	switch {
	case isMetadata(addr):
		return forbidden(host, shown, "tells secrets to the machines of a cloud")
	case !IsPublic(addr) && !g.Private && !g.names(host):
		return forbidden(host, shown, "is no public host, and the MCP server is; name it in tools.toml if it is right")
	}
	return nil
}

func forbidden(host, at, why string) error {
	return plainError(fmt.Sprintf("no request is sent to the host %.100q%s: it %s", host, at, why))
}

// checkRedirect is for http.Client. The transport checks the URL.
func (g *Guard) checkRedirect(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	switch {
	case last.Method != http.MethodGet && last.Method != http.MethodHead:
		return plainError(fmt.Sprintf("the server redirects a request with secrets to %s, which is not followed", Shown(req.URL)))
	case last.URL.Scheme == "https" && req.URL.Scheme != "https":
		return plainError(fmt.Sprintf("the server redirects from https to %s, which is not followed", Shown(req.URL)))
	case len(via) > guardedRedirects:
		return plainError(fmt.Sprintf("the server redirects more than %d times", guardedRedirects))
	}
	return nil
}
