package guard

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"toolman/router/budget"
)

var loopbackProxy = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func TestWhatATrustedProxySaysCounts(t *testing.T) {
	token, hash := withToken("reader")
	url := "http://" + start(t, Options{Tokens: []Token{hash}, TrustedProxies: loopbackProxy}) + "/mcp"
	ask := func(headers ...string) Identity {
		return send(t, "POST", url, append(headers, "Authorization", "Bearer "+token)...).identity(t)
	}
	plain := ask()
	a, b := ask("Mcp-Client-Id", "one"), ask("MCP-CLIENT-ID", "two", "X-Forwarded-For", "192.0.2.9, 127.0.0.3", "mcp-toolset-permissions", "github, fs,github,")
	if a.ClientID != "one" || b.ClientID != "two" || a.Client() == b.Client() || a.Client() == plain.Client() || a.Issuer != plain.Issuer || a.Subject != plain.Subject {
		t.Errorf("got %+v, %+v, %+v", plain, a, b)
	}
	if b.Addr.String() != "192.0.2.9" || !b.Restricted || b.Toolsets != "fs,github" {
		t.Errorf("got %+v", b)
	}
	if a.Restricted || a.Toolsets != "" {
		t.Errorf("without the header: got %+v", a)
	}
}

func TestWhatOthersSayCountsForNothing(t *testing.T) {
	url := "http://" + start(t, Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}) + "/mcp"
	p := send(t, "POST", url, "Mcp-Client-Id", "one", "Mcp-Toolset-Permissions", "all", "X-Forwarded-For", "192.0.2.1").identity(t)
	if p.Name != "anonymous" || p.Principal != (budget.Principal{}) || p.Addr.String() != "127.0.0.1" {
		t.Errorf("got %+v", p)
	}
}

func TestClientIDs(t *testing.T) {
	base := "http://" + start(t, Options{TrustedProxies: loopbackProxy, RequireClientID: true})
	for _, tt := range []struct {
		name, path, says string
		headers          []string
	}{
		{"none", "/mcp", "Missing required mcp-client-id header", nil},
		{"none, at a toolset's endpoint", "/mcp/x", "Missing required mcp-client-id header", nil},
		{"an empty one", "/mcp", "must not be empty", []string{"Mcp-Client-Id", ""}},
		{"a blank one", "/mcp", "must not be empty", []string{"Mcp-Client-Id", "   "}},
		{"two of them", "/mcp", "more than one", []string{"Mcp-Client-Id", "a", "Mcp-Client-Id", "b"}},
		{"two in one", "/mcp", "visible ASCII", []string{"Mcp-Client-Id", "a,b"}},
		{"spaces in it", "/mcp", "visible ASCII", []string{"Mcp-Client-Id", "a b"}},
		{"other letters", "/mcp", "visible ASCII", []string{"Mcp-Client-Id", "ä"}},
		{"a long one", "/mcp", "visible ASCII", []string{"Mcp-Client-Id", strings.Repeat("a", 129)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, method := range []string{"POST", "GET", "DELETE"} {
				if got := send(t, method, base+tt.path, tt.headers...); got.status != 400 || !strings.Contains(got.message(t), tt.says) {
					t.Errorf("%s: got %+v", method, got)
				}
			}
		})
	}
	if p := send(t, "POST", base+"/mcp", "Mcp-Client-Id", strings.Repeat("a", 128)).identity(t); len(p.ClientID) != 128 {
		t.Errorf("got %+v", p)
	}
	if got := send(t, "GET", base+"/other"); got.status != 404 {
		t.Errorf("elsewhere than at the endpoint: got %+v", got)
	}
}

func TestAClientIDFromElsewhereIsExplained(t *testing.T) {
	url := "http://" + start(t, Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, RequireClientID: true}) + "/mcp"
	if got := send(t, "POST", url, "Mcp-Client-Id", "a"); got.status != 400 || !strings.Contains(got.message(t), "trusted_proxies") {
		t.Errorf("got %+v", got)
	}
}

// What is not understood allows nothing, and never everything.
func TestPermissions(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   string
	}{
		{[]string{"a"}, "[a]"}, {[]string{" a , b.c-d_e "}, "[a b.c-d_e]"}, {[]string{""}, "[]"}, {[]string{","}, "[]"}, {[]string{"a,,a"}, "[a]"},
		{[]string{"a", "b"}, "[]"}, {[]string{"a,*"}, "[]"}, {[]string{"a,b c"}, "[]"}, {[]string{"a;b"}, "[]"}, {[]string{"ä"}, "[]"},
		{[]string{strings.Repeat("a", 65)}, "[]"}, {[]string{strings.Repeat("a,", maxPermissions)}, "[]"}, {nil, "[]"},
	} {
		if got := fmt.Sprint(permissions(tt.values)); got != tt.want {
			t.Errorf("%.50q: got %s, want %s", tt.values, got, tt.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	g, err := New(Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:80", []string{"203.0.113.1"}, "192.0.2.1"},
		{"10.0.0.1:80", nil, "10.0.0.1"},
		{"10.0.0.1:80", []string{"203.0.113.1"}, "203.0.113.1"},
		{"[::ffff:10.0.0.1]:80", []string{"203.0.113.1"}, "203.0.113.1"},
		{"10.0.0.1:80", []string{"198.51.100.7, 203.0.113.1"}, "203.0.113.1"}, // the first is what the client made up
		{"10.0.0.1:80", []string{"198.51.100.7", "203.0.113.1, 10.0.0.2"}, "203.0.113.1"},
		{"10.0.0.1:80", []string{"203.0.113.1, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"[fd00::1]:80", []string{"2001:db8::7"}, "2001:db8::7"},
		{"10.0.0.1:80", []string{strings.Repeat("10.0.0.9,", 1000) + "10.0.0.8"}, "10.0.0.9"},
		{"pipe", []string{"203.0.113.1"}, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		if got := g.address(r).String(); got != tt.want {
			t.Errorf("%s for %.60q: got %s, want %s", tt.peer, tt.forwarded, got, tt.want)
		}
	}
}

// Who has an IPv6 address has a network of them, and is one who guesses.
func TestNetworks(t *testing.T) {
	for addr, want := range map[string]string{"192.0.2.1": "192.0.2.1", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "2001:db8:1:2:ffff::": "2001:db8:1:2::/64"} {
		if got := network(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: got %s, want %s", addr, got, want)
		}
	}
}

func TestMetadataBehindAProxy(t *testing.T) {
	jwt := &JWT{Issuer: "https://login.example.com", Audience: []string{"toolman"}, Algorithms: []string{"ES256"}, JWKS: "https://login.example.com/jwks"}
	for _, tt := range []struct {
		name    string
		trusted []netip.Prefix
		headers []string
		want    string
	}{
		{"trusted", loopbackProxy, []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "MCP.example.com"}, `"https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`},
		{"with nonsense", loopbackProxy, []string{"X-Forwarded-Proto", "javascript", "X-Forwarded-Host", `a", x="`}, ""},
		{"not trusted", nil, []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "mcp.example.com"}, `"http://127.0.0.1:`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := send(t, "POST", "http://"+start(t, Options{JWT: jwt, TrustedProxies: tt.trusted})+"/mcp", tt.headers...).header.Get("WWW-Authenticate")
			if _, after, found := strings.Cut(got, "resource_metadata="); found != (tt.want != "") || !strings.HasPrefix(after, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestFormsOfHeadersAreThoseOfTheirExpressions(t *testing.T) {
	for _, f := range []struct {
		form string
		has  func(string) bool
	}{
		{`^[!-+\--~]{1,128}$`, isClientID},
		{`^[A-Za-z0-9_.-]{1,64}$`, isToolset},
		{"^[A-Za-z0-9!#$%&'*+.^_`|~, -]+$", isTokenList},
	} {
		form := regexp.MustCompile(f.form)
		texts := []string{"", "ä", "a\n", "a\xff"}
		for _, n := range []int{64, 65, 128, 129} {
			texts = append(texts, strings.Repeat("a", n))
		}
		for c := range 256 {
			texts = append(texts, string([]byte{byte(c)}), string([]byte{'a', byte(c)}))
		}
		for _, text := range texts {
			if got := f.has(text); got != form.MatchString(text) {
				t.Errorf("%s has %q: %v", f.form, text, got)
			}
		}
	}
}
