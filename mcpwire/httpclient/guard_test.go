package httpclient

import (
	"bufio"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// names starts a DNS server that knows these hosts, and returns a resolver that asks it.
func names(t *testing.T, known map[string]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		query := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(query)
			if err != nil {
				return
			}
			conn.WriteTo(dnsResponse(query[:n], known), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// dnsResponse answers a query (RFC 1035, 4).
func dnsResponse(query []byte, known map[string]string) []byte {
	var labels []string
	at := 12
	for n := int(query[at]); n != 0; n = int(query[at]) {
		labels = append(labels, string(query[at+1:at+1+n]))
		at += 1 + n
	}
	question := query[12 : at+5]
	addr, err := netip.ParseAddr(known[strings.ToLower(strings.Join(labels, "."))])
	data := addr.AsSlice()
	kind := map[int]byte{4: 1, 16: 28}[len(data)] // A, AAAA
	found := err == nil && question[len(question)-3] == kind
	response := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	if err != nil {
		response[3] = 0x83 // there is no such host
	}
	if found {
		response[7] = 1
		response = append(response, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(len(data)))
		response = append(response, data...)
	}
	return response
}

// A target is an HTTPS server of example.com that counts the connections to it.
type target struct {
	*httptest.Server
	port   string
	caFile string
	conns  atomic.Int32
}

func newTarget(t *testing.T, handler http.HandlerFunc) *target {
	t.Helper()
	s := &target{Server: httptest.NewUnstartedServer(handler)}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	s.port = s.URL[strings.LastIndexByte(s.URL, ':'):]
	s.caFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(s.caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// get sends a GET and returns how it failed, "" if it did not.
func get(t *testing.T, g Guard, at string) string {
	t.Helper()
	c, err := NewGuarded(g)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = GetObject(t.Context(), c, req); err != nil {
		text, again := Explain(err)
		if again {
			text += " (again)"
		}
		return text
	}
	return ""
}

func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func TestAHostThatIsNotPublicIsNotConnectedTo(t *testing.T) {
	s := newTarget(t, answer("{}"))
	known := names(t, map[string]string{
		"example.com": "127.0.0.1", "loopback6.test": "::1", "mapped.test": "::ffff:127.0.0.1", "ten.test": "10.0.0.1",
		"metadata.test": "169.254.169.254", "metadata6.test": "fd00:ec2::254",
	})
	for _, tt := range []struct {
		name, host string
		guard      Guard
		fails      string
	}{
		{"an address", "127.0.0.1", Guard{}, `to the host "127.0.0.1": it is no public host, and the MCP server is; name it in tools.toml`},
		{"an address of IPv6", "[::1]", Guard{}, "no public host"},
		{"localhost", "localhost", Guard{}, `"localhost" at 127.0.0.1: it is no public host`},
		{"a name for an address", "example.com", Guard{}, `"example.com" at 127.0.0.1: it is no public host`},
		{"a name for one of IPv6", "loopback6.test", Guard{}, "no public host"},
		{"a name for a mapped one", "mapped.test", Guard{}, "no public host"},
		{"a name in the private network", "ten.test", Guard{}, "no public host"},
		{"another one is named", "example.com", Guard{Named: []string{"example.net"}}, "no public host"},
		{"it is named", "example.com", Guard{Named: []string{"Example.com"}}, ""},
		{"the server itself is not public", "example.com", Guard{Private: true}, ""},
		{"metadata of a cloud", "metadata.test", Guard{Private: true}, `"metadata.test" at 169.254.169.254: it tells secrets`},
		{"metadata that are named", "metadata.test", Guard{Named: []string{"metadata.test"}}, "tells secrets"},
		{"metadata over IPv6", "metadata6.test", Guard{Private: true}, "tells secrets"},
		{"the address of metadata", "169.254.169.254", Guard{Private: true}, "tells secrets"},
		{"a mapped address of metadata", "[::ffff:a9fe:a9fe]", Guard{Private: true}, "tells secrets"},
		{"their address translated", "[64:ff9b::a9fe:a9fe]", Guard{Private: true}, "tells secrets"},
		{"a number", "2130706433", Guard{Private: true}, "neither a name nor an address"},
		{"a short address", "127.1", Guard{Private: true}, "neither a name nor an address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.conns.Store(0)
			tt.guard.resolver, tt.guard.CAFile = known, s.caFile
			got := get(t, tt.guard, "https://"+tt.host+s.port+"/")
			if (got == "") != (tt.fails == "") || !strings.Contains(got, tt.fails) || strings.Contains(got, "(again)") {
				t.Errorf("got %q", got)
			}
			if tt.fails != "" && s.conns.Load() != 0 {
				t.Error("the server has been connected to")
			}
		})
	}
}

func TestAGuardedURLIsHTTPS(t *testing.T) {
	s := httptest.NewServer(answer("{}"))
	defer s.Close()
	for _, tt := range []struct {
		url   string
		guard Guard
		fails string
	}{
		{s.URL, Guard{}, "does not start with https://"},
		{"http://public.example", Guard{Named: []string{"127.0.0.1"}}, "does not start with https://"},
		{s.URL, Guard{Private: true}, "does not start with https://"},
		{s.URL, Guard{HTTP: true}, "is no public host"},
		{s.URL, Guard{HTTP: true, Private: true}, ""},
		{s.URL, Guard{Named: []string{"127.0.0.1"}}, ""},
		{"file:///etc/passwd", Guard{Private: true}, "must start with https://"},
		{"ftp://public.example/x", Guard{Private: true}, "must start with https://"},
		{strings.Replace(s.URL, "//", "//user:secret@", 1), Guard{Private: true}, "and no user"},
		{"https:///x", Guard{Private: true}, ""},
	} {
		got := get(t, tt.guard, tt.url)
		if tt.url == "https:///x" {
			if got == "" {
				t.Error("there is no host")
			}
			continue
		}
		if (got == "") != (tt.fails == "") || !strings.Contains(got, tt.fails) || strings.Contains(got, "secret") {
			t.Errorf("%s: got %q", tt.url, got)
		}
	}
}

func TestRedirectsAreChecked(t *testing.T) {
	private := newTarget(t, answer("{}"))
	plain := httptest.NewServer(answer("{}"))
	defer plain.Close()
	var to atomic.Pointer[string]
	s := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		n := 0
		fmt.Sscanf(r.URL.Path, "/%d", &n)
		switch {
		case n > 1:
			http.Redirect(w, r, fmt.Sprintf("/%d", n-1), http.StatusFound)
		case n == 1:
			http.Redirect(w, r, *to.Load(), http.StatusTemporaryRedirect)
		default:
			io.WriteString(w, "{}")
		}
	})
	g := Guard{Named: []string{"example.com"}, CAFile: s.caFile, resolver: names(t, map[string]string{"example.com": "127.0.0.1", "other.test": "127.0.0.1"})}
	for _, tt := range []struct{ name, from, to, fails string }{
		{"to another path", "/1", "/", ""},
		{"three times", "/3", "/", ""},
		{"four times", "/4", "/", "more than 3 times"},
		{"to an address", "/1", private.URL, "is no public host"},
		{"to a name for an address", "/1", "https://other.test" + private.port, "is no public host"},
		{"to metadata", "/1", "https://169.254.169.254/latest", "tells secrets"},
		{"to http", "/1", plain.URL, "redirects from https to http://"},
		{"to another scheme", "/1", "javascript:alert(1)", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to.Store(&tt.to)
			got := get(t, g, "https://example.com"+s.port+tt.from)
			if (got == "") != (tt.fails == "" && !strings.HasPrefix(tt.to, "javascript")) || !strings.Contains(got, tt.fails) {
				t.Errorf("got %q", got)
			}
		})
	}
	if private.conns.Load() != 0 {
		t.Error("the server that is not public has been connected to")
	}
	t.Run("of a request with secrets", func(t *testing.T) {
		here := "/"
		to.Store(&here)
		c, err := NewGuarded(g)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Post("https://example.com"+s.port+"/1", "application/x-www-form-urlencoded", strings.NewReader("code=secret"))
		if text, _ := Explain(err); !strings.Contains(text, "redirects a request with secrets") {
			t.Errorf("got %q", text)
		}
	})
	t.Run("http to https, where http is allowed", func(t *testing.T) {
		up := httptest.NewServer(http.RedirectHandler("https://example.com"+s.port, http.StatusFound))
		defer up.Close()
		g := g
		g.HTTP, g.Private = true, true
		if got := get(t, g, up.URL); got != "" {
			t.Errorf("got %q", got)
		}
	})
}

// A proxy connects in place of the client, so that only URLs can be checked.
func TestAProxyGetsOnlyURLsThatAreAllowed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan string, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			req, err := http.ReadRequest(bufio.NewReader(conn))
			if err == nil {
				asked <- req.Method + " " + req.Host
			}
			conn.Close()
		}
	}()
	c, err := NewGuarded(Guard{})
	if err != nil {
		t.Fatal(err)
	}
	c.Transport.(*guarded).proxied.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})
	for _, bad := range []string{"https://10.0.0.1", "https://localhost", "https://a.localhost.", "https://metadata.google.internal", "https://169.254.169.254",
		"https://0x7f000001", "http://login.test"} {
		if _, err := c.Get(bad); err == nil || len(asked) != 0 {
			t.Errorf("%s: %v, and the proxy was asked %d times", bad, err, len(asked))
		}
	}
	c.Get("https://login.test")
	if got := <-asked; got != "CONNECT login.test:443" {
		t.Errorf("the proxy was asked %s", got)
	}
}

func TestIsPublic(t *testing.T) {
	for _, text := range []string{"8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.32.0.1", "192.0.1.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2001:4860::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"} {
		if !IsPublic(netip.MustParseAddr(text)) {
			t.Errorf("%s is not", text)
		}
	}
	for _, text := range []string{"0.0.0.0", "0.1.2.3", "10.1.1.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "169.254.1.1", "172.16.0.1", "172.31.0.1", "192.0.0.1", "192.0.2.1",
		"192.168.0.1", "198.18.0.1", "198.19.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1", "2001::1", "2001:db8::1", "2002:a00:1::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1"} {
		if IsPublic(netip.MustParseAddr(text)) {
			t.Errorf("%s is", text)
		}
	}
}

func TestPrivate(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "::1": true, "localhost": true, "a.LOCALHOST.": true, "10.0.0.1": true, "::ffff:10.0.0.1": true, "8.8.8.8": false, "does-not-exist.invalid": false,
	} {
		if Private(t.Context(), text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

func TestGetObject(t *testing.T) {
	large := `{"a":"` + strings.Repeat("x", maxObject) + `"}`
	for _, tt := range []struct {
		name, body, fails string
		status            int
		none              bool
	}{
		{"an object", `{"a":{"b":1},"b":[{"a":1},{"a":2}],"c":{"b":1}}`, "", 200, false},
		{"an error as an object", `{"error":"x"}`, "", 400, false},
		{"a web page", "<html>", "is not a JSON object", 200, true},
		{"an error as a web page", "<html>", "", 403, true},
		{"nothing", "", "", 200, false},
		{"an array", "[]", "is not a JSON object", 200, true},
		{"null", "null", "is not a JSON object", 200, true},
		{"more behind it", "{}{}", "is not a JSON object", 200, true},
		{"a key twice", `{"issuer":"a","issuer":"b"}`, "has a key twice", 200, true},
		{"a key twice, once escaped", `{"issuer":"a","iss\u0075er":"b"}`, "has a key twice", 200, true},
		{"a key twice, below", `{"a":[{"x":1,"y":[],"x":1}]}`, "has a key twice", 200, true},
		{"a key twice in an error", `{"error":"a","error":"b"}`, "", 400, true},
		{"a key as a value", `{"a":"b","b":"a"}`, "", 200, false},
		{"too long", large, "longer than 262144 bytes", 200, true},
		{"too long in an error", large, "longer than 262144 bytes", 500, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept") != "application/json" {
					t.Errorf("Accept: %q", r.Header["Accept"])
				}
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			}))
			defer s.Close()
			req, _ := http.NewRequest(http.MethodGet, s.URL, nil)
			o, resp, err := GetObject(t.Context(), s.Client(), req)
			if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) || (o == nil) != tt.none {
				t.Fatalf("got %.100s, %v", o, err)
			}
			if err == nil {
				if body, err := io.ReadAll(resp.Body); resp.StatusCode != tt.status || string(body) != tt.body || err != nil {
					t.Errorf("got %d, %.100q, %v", resp.StatusCode, body, err)
				}
			}
		})
	}
}

func TestABodyWithoutAnEndIsNotReadToIt(t *testing.T) {
	written := make(chan int, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		for r.Context().Err() == nil {
			more, err := io.WriteString(w, strings.Repeat(" ", 1<<16))
			if n += more; err != nil {
				break
			}
		}
		written <- n
	}))
	defer s.Close()
	if got := get(t, Guard{HTTP: true, Private: true}, s.URL); !strings.Contains(got, "longer than") {
		t.Errorf("got %q", got)
	}
	if n := <-written; n > 64<<20 { // the buffers of the system take some, too
		t.Errorf("%d bytes were read", n)
	}
}

// silent is a server that never responds.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestGetObjectDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for method, want := range map[string]time.Duration{http.MethodGet: 10 * time.Second, http.MethodPost: 20 * time.Second} {
			c, err := NewGuarded(Guard{})
			if err != nil {
				t.Fatal(err)
			}
			c.Transport = silent{}
			req, _ := http.NewRequest(method, "https://login.test", nil)
			start := time.Now()
			_, _, err = GetObject(t.Context(), c, req)
			if waited := time.Since(start); err == nil || waited != want {
				t.Errorf("%s: waited %s, %v", method, waited, err)
			}
		}
	})
}

func TestMembersOfAnObject(t *testing.T) {
	o, err := ParseObject([]byte(`{"text":"a","texts":["a","b"],"mixed":["a",1],"yes":true,"empty":[],"null":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if o.Text("text") != "a" || o.Text("texts") != "" || o.Text("none") != "" || len(o.Texts("texts")) != 2 || len(o.Texts("mixed")) != 1 || o.Texts("empty") == nil || o.Texts("null") != nil || o.Texts("text") != nil ||
		!o.Bool("yes") || o.Bool("text") || !o.Has("null") || o.Has("none") {
		t.Errorf("got %v", o)
	}
}
