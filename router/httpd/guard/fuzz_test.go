package guard

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"testing"
)

// FuzzHeaders gives the readers of headers whatever they get, and holds what comes out against the
// rules.
func FuzzHeaders(f *testing.F) {
	f.Add("Bearer tm_abc", "localhost:8900", "http://localhost:8900", "one", "a,b", "192.0.2.1, 10.0.0.1")
	f.Add("bearer  a.b.c", "[::1]:80", "null", "a,b", "*", "unknown")
	f.Add("Basic x", "evil.example:", "http://evil.example", "", ",,", "::ffff:10.0.0.1,,")
	f.Add("Bearer ", "127.0.0.1.", "https://a:443", "\x7f", "a b", "10.0.0.1%eth0")
	g, err := New(Options{AllowedOrigins: []string{"https://a"}, AllowedHosts: []string{"b.example"}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, authorization, host, origin, id, toolsets, forwarded string) {
		r := &http.Request{Host: host, RemoteAddr: "10.0.0.1:1", Header: http.Header{"Authorization": {authorization}, "Origin": {origin}, "X-Forwarded-For": {forwarded}}}
		r = r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})))
		if token, err := bearer(r.Header); err == nil && (strings.ContainsAny(token, " ,\"\t\r\n") || !strings.HasSuffix(strings.TrimRight(authorization, " "), token)) {
			t.Errorf("the token of %q is %q", authorization, token)
		}
		if g.host(r) != unknownHost {
			name, _, ok := splitHost(host)
			a, _ := netip.ParseAddr(name)
			if !ok || name != "localhost" && name != "b.example" && !a.Unmap().IsLoopback() {
				t.Errorf("the host %q is taken", host)
			}
		}
		if _, ok := g.origin(r); ok && normalOrigin(origin) != "https://a" && !strings.HasSuffix(strings.ToLower(origin), "://"+strings.ToLower(host)) {
			t.Errorf("the origin %q is allowed on %q", origin, host)
		}
		if got, problem := clientID([]string{id}); problem == "" && (got != id || strings.ContainsAny(got, ", \t\x7f") || len(got) > 128) {
			t.Errorf("the client id of %q is %q", id, got)
		}
		if names := permissions([]string{toolsets}); len(names) > maxPermissions || strings.ContainsAny(strings.Join(names, ""), "*?[{ /\\,") {
			t.Errorf("the toolsets of %q are %q", toolsets, names)
		}
		if a := g.address(r); !a.IsValid() {
			t.Errorf("%q is the address of nobody", forwarded)
		}
	})
}

// FuzzPaths: a path that passes is read in one way by everybody.
func FuzzPaths(f *testing.F) {
	for _, target := range []string{"/mcp", "//mcp", "/mcp/../x", "/%2e%2e/", "/mcp%2fx", "/mcp/;/..", "/./", "http://h/mcp", "/a?b=//..", "*"} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !plainPath(u) {
			return
		}
		if again, err := url.PathUnescape(u.Path); err != nil || again != u.Path {
			t.Errorf("%q can be unescaped again", u.Path)
		}
		if clean := path.Clean(u.Path); u.Path != clean && u.Path != clean+"/" || u.Path[0] != '/' {
			t.Errorf("%q can be cleaned to %q", u.Path, clean)
		}
	})
}
