package guard

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A page that has its own name point at this machine sends its own name (DNS rebinding).
func TestOnLoopbackOnlyNamesOfThisMachineCount(t *testing.T) {
	addr := start(t, Options{AllowedHosts: []string{"mcp.example.com", "other.example.com:8443", "[2001:db8::1]"}})
	_, port, _ := net.SplitHostPort(addr)
	for host, want := range map[string]int{
		addr: 200, "localhost": 200, "LocalHost:" + port: 200, "[::1]:" + port: 200, "127.9.9.9": 200,
		"mcp.example.com": 200, "MCP.example.com:" + port: 200, "other.example.com:8443": 200, "[2001:db8::1]:80": 200,
		"evil.example": 403, "evil.example:" + port: 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "other.example.com": 403,
		"mcp.example.com.": 403, "192.168.0.1": 403, "[2001:db8::2]": 403, "0.0.0.0": 403, "localhost:": 403, "localhost:x": 403,
	} {
		got := raw(t, addr, "GET /mcp HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
		if got.status != want {
			t.Errorf("%s: got %d %s, want %d", host, got.status, got.body, want)
		}
		if want == 403 && !strings.Contains(got.message(t), "allowed_hosts") {
			t.Errorf("%s: the message does not say what to do: %s", host, got.body)
		}
	}
	if got := raw(t, addr, "GET /mcp HTTP/1.0\r\n\r\n"); got.status != 403 {
		t.Errorf("without a host: got %d", got.status)
	}
	if got := raw(t, addr, "GET http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"); got.status != 403 {
		t.Errorf("with another host in the target: got %d", got.status)
	}
}

func TestBeyondLoopbackAnAddressIsAsGoodAsAKnownName(t *testing.T) {
	some := []string{"a.example"}
	for _, tt := range []struct {
		host    string
		allowed []string
		want    hostClass // where a request needs a credential
		open    hostClass // and where it does not
	}{
		{"192.0.2.7:8900", nil, ownHost, ownHost}, {"192.0.2.8:8900", nil, possibleHost, possibleHost}, {"[2001:db8::2]", nil, possibleHost, possibleHost}, {"localhost:80", nil, possibleHost, possibleHost},
		{"any.example", nil, possibleHost, unknownHost}, {"toolman:8900", nil, possibleHost, unknownHost}, {"192.0.2.7.evil.example", nil, possibleHost, unknownHost},
		{"192.0.2.7", some, ownHost, ownHost}, {"a.example", some, ownHost, ownHost}, {"any.example", some, unknownHost, unknownHost},
		{"127.0.0.1", some, unknownHost, unknownHost}, {"localhost", some, unknownHost, unknownHost}, {"a example", nil, unknownHost, unknownHost}, {"", nil, unknownHost, unknownHost},
	} {
		for _, o := range []Options{{AllowedHosts: tt.allowed, Tokens: []Token{{Agent: "a"}}}, {AllowedHosts: tt.allowed, Unauthenticated: true}} {
			g, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			local := &net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: 8900}
			r := (&http.Request{Host: tt.host}).WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(local)))
			want := tt.want
			if o.Unauthenticated {
				want = tt.open
			}
			if got := g.host(r); got != want {
				t.Errorf("%q with %v, without credentials: %t: got %d, want %d", tt.host, tt.allowed, o.Unauthenticated, got, want)
			}
		}
	}
}

func TestPagesOfOthersAreRefused(t *testing.T) {
	addr := start(t, Options{AllowedOrigins: []string{"https://app.example.com:443", "http://dev.example:3000", "vscode-webview://a1"}})
	for origin, want := range map[string]int{
		"https://app.example.com": 200, "HTTPS://App.Example.com": 200, "http://dev.example:3000": 200, "vscode-webview://a1": 200, "http://" + addr: 200,
		"http://app.example.com": 403, "https://app.example.com:8443": 403, "https://app.example.com.evil.example": 403, "https://evil.example": 403,
		"http://localhost:3000": 403, "http://127.0.0.1": 403, "null": 403, "": 403, "http://dev.example": 403, "ftp://" + addr: 403, "file://": 403,
		"https://app.example.com, https://evil.example": 403,
	} {
		got := send(t, "POST", "http://"+addr+"/mcp", "Origin", origin)
		if got.status != want {
			t.Errorf("%q: got %d %s, want %d", origin, got.status, got.body, want)
		}
		if said := got.header.Get("Access-Control-Allow-Origin"); want == 200 && said != origin || want == 403 && said != "" {
			t.Errorf("%q may be read by %q", origin, said)
		}
		if got.header.Get("Vary") != "Origin" && want == 200 {
			t.Errorf("%q: a cache may give the answer to others", origin)
		}
	}
	if got := send(t, "POST", "http://"+addr+"/mcp", "Origin", "https://app.example.com", "Origin", "https://app.example.com"); got.status != 403 {
		t.Errorf("two origins: got %d", got.status)
	}
	if got := send(t, "POST", "http://"+addr+"/mcp"); got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("no origin: got %+v", got)
	}
}

// With a name that nobody has vouched for, a page of that name is not taken for this server's own.
func TestAPageIsOurOwnOnlyUnderANameThatIsKnown(t *testing.T) {
	g, err := New(Options{Unauthenticated: true})
	if err != nil {
		t.Fatal(err)
	}
	local := &net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: 8900}
	for host, want := range map[string]bool{"evil.example:8900": false, "192.0.2.7:8900": true} {
		r := &http.Request{Host: host, Header: http.Header{"Origin": {"http://" + host}}}
		r = r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(local)))
		if _, ok := g.origin(r); ok != want {
			t.Errorf("%s: got %v", host, ok)
		}
	}
}

// A browser sends no Origin with a GET for an image, a link or a form, but says that it is for a
// page.
func TestPagesOfOtherSitesAreRefusedWithoutAnOrigin(t *testing.T) {
	addr := start(t, Options{AllowedOrigins: []string{"https://app.example.com"}})
	for _, tt := range []struct {
		site, origin string
		want         int
	}{
		{"", "", 200}, {"none", "", 200}, {"same-origin", "", 200},
		{"cross-site", "", 403}, {"same-site", "", 403}, {"CROSS-SITE", "", 403}, {"something later", "", 403},
		{"cross-site", "https://app.example.com", 200}, {"same-site", "https://app.example.com", 200},
		{"cross-site", "https://evil.example", 403}, {"none", "https://evil.example", 403}, {"same-origin", "null", 403},
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS"} {
			headers := []string{"Sec-Fetch-Site", tt.site}
			if tt.site == "" {
				headers = nil
			}
			if tt.origin != "" {
				headers = append(headers, "Origin", tt.origin)
			}
			got := send(t, method, "http://"+addr+"/mcp", headers...)
			if got.status != tt.want {
				t.Errorf("%s with Sec-Fetch-Site %q and Origin %q is answered %d, want %d", method, tt.site, tt.origin, got.status, tt.want)
			}
			if tt.want == 403 && tt.origin == "" && method != "HEAD" && !(strings.Contains(got.body, "Sec-Fetch-Site") && strings.Contains(got.body, "allowed_origins")) {
				t.Errorf("%s with Sec-Fetch-Site %q is refused with %s", method, tt.site, got.body)
			}
		}
	}
	if got := send(t, "GET", "http://"+addr+"/mcp", "Sec-Fetch-Site", "none", "Sec-Fetch-Site", "cross-site"); got.status != 403 {
		t.Errorf("with two Sec-Fetch-Site: %d", got.status)
	}
}

func TestPreflightsAreAnsweredForAllowedOriginsOnly(t *testing.T) {
	addr := start(t, Options{AllowedOrigins: []string{"https://app.example.com"}, Tokens: []Token{{Agent: "a"}}})
	ask := func(origin, headers string) answer {
		return send(t, "OPTIONS", "http://"+addr+"/mcp", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", headers)
	}
	got := ask("https://app.example.com", "authorization,mcp-param-x")
	h := got.header
	if got.status != 204 || h.Get("Access-Control-Allow-Headers") != "authorization,mcp-param-x" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "DELETE") {
		t.Errorf("got %+v", got)
	}
	if h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("cookies are let in")
	}
	if got := ask("https://app.example.com", "a\tb"); got.header.Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("what is no list of names comes back: %+v", got)
	}
	if got := ask("https://evil.example", "authorization"); got.status != 403 || got.header.Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("a stranger: got %+v", got)
	}
	if got := send(t, "OPTIONS", "http://"+addr+"/mcp", "Origin", "https://app.example.com"); got.status != 401 {
		t.Errorf("an OPTIONS that is no preflight: got %d", got.status)
	}
	if got := send(t, "GET", "http://"+addr+"/mcp", "Origin", "https://app.example.com"); got.status != 401 || !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") ||
		got.header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("the page cannot read that it needs a token: %+v", got)
	}
}

// Nothing behind may read another path than the guard, nor be reached past it.
func TestPathsAreWrittenPlainly(t *testing.T) {
	addr := start(t, Options{Tokens: []Token{{Agent: "a"}}})
	for target, want := range map[string]int{
		"//mcp": 400, "/mcp//x": 400, "/mcp/../mcp": 400, "/mcp/..": 400, "/./mcp": 400, "/mcp/.": 400, "/%6dcp": 400, "/mcp%2fx": 400, "/mcp/%2e%2e/x": 400, "/mcp%00": 400, `/mcp\x`: 400,
		"/.well-known/oauth-protected-resource/../../mcp": 400, "/.well-known//mcp": 400, "*": 400,
		"/mcp": 401, "/mcp/": 401, "/mcp/x": 401, "/": 401, "/other": 401, "/mcp;x=1": 401, "/mcp?x=%2e%2e//": 401, "/MCP": 401,
	} {
		if got := raw(t, addr, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); got.status != want {
			t.Errorf("%s: got %d %s, want %d", target, got.status, got.body, want)
		}
	}
	for _, line := range []string{"OPTIONS * HTTP/1.1", "CONNECT localhost:80 HTTP/1.1", "CONNECT /mcp HTTP/1.1"} {
		if got := raw(t, addr, line+"\r\nHost: localhost\r\n\r\n"); got.status < 400 || got.status > 404 {
			t.Errorf("%s: got %d %s", line, got.status, got.body)
		}
	}
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]string{
		"localhost": "localhost", "A.example:80": "a.example 80", "127.0.0.1:65535": "127.0.0.1 65535", "[::1]": "::1", "[FE80::1]:80": "fe80::1 80", "[::ffff:1.2.3.4]:1": "::ffff:1.2.3.4 1",
		"": "no", ":80": "no", "a:": "no", "a:65536": "no", "a:-1": "no", "a:+1": "no", "a:80:80": "no", "a b": "no", "a/b": "no", "a@b": "no", "ä": "no", "a,b": "no", "a\x00": "no",
		"[::1": "no", "[::1]80": "no", "[::1]:": "no", "[::1]::80": "no", "[]": "no", "[]:80": "no", "[localhost]": "no", "[127.0.0.1]": "no", "[::1%eth0]": "no", "::1": "no", "[[::1]]": "no", "[::1]]:80": "no",
	} {
		name, port, ok := splitHost(host)
		got := strings.TrimSpace(name + " " + port)
		if !ok {
			got = "no"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", host, got, want)
		}
	}
}
