package signin

import (
	"net"
	"net/netip"
	"net/url"
	"testing"

	"toolman/fixtures/authserver"
)

// Who has the name of a server can answer each lookup in another way. What counts is where the
// server has answered.
func TestAServerThatHasAnsweredFromAPublicAddressNamesNoPrivateOnes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		met     []string // addresses of connections
		private bool
	}{
		{"through a proxy", nil, false},
		{"a private network", []string{"10.0.0.1:443", "[fd12::1]:443"}, true},
		{"this machine", []string{"[::1]:8080"}, true},
		{"the Internet", []string{"8.8.8.8:443"}, false},
		{"first the Internet", []string{"8.8.8.8:443", "10.0.0.1:443"}, false},
		{"at last the Internet", []string{"10.0.0.1:443", "8.8.8.8:443"}, false},
	} {
		for _, scheme := range []string{"https", "http"} {
			f := &Flow{Server: Server{URL: scheme + "://localhost/mcp", Issuer: "https://as.example/x", CAFile: "ca"}, server: &url.URL{Scheme: scheme, Host: "localhost", Path: "/mcp"}}
			for _, at := range tt.met {
				f.met.note(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(at)))
			}
			g := f.rules()
			if g.Private != tt.private || g.HTTP != (tt.private || scheme == "http") || len(g.Named) != 1 || g.Named[0] != "as.example" || g.CAFile != "ca" {
				t.Errorf("%s, %s: %+v", tt.name, scheme, g)
			}
		}
	}
}

// A server that answers from here, where it has answered from the Internet before.
func TestTheAddressesOfTheProbeAreNoted(t *testing.T) {
	p := newPerson(t, authserver.Options{})
	p.loggedIn()
	if g := p.flow.rules(); !g.Private {
		t.Errorf("got %+v", g)
	}
	p = newPerson(t, authserver.Options{})
	p.flow.met.note(net.TCPAddrFromAddrPort(netip.MustParseAddrPort("8.8.8.8:443")))
	p.refused("no request is sent to the host \"127.0.0.1\"", "tools.toml")
	if n := len(p.Requests("resource", "metadata", "register", "authorize", "token")); n > 0 {
		t.Errorf("%d requests", n)
	}
}
