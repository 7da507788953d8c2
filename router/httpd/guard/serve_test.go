package guard

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// endpoint says whose request it is, after reading its body as the front does.
func endpoint(w http.ResponseWriter, r *http.Request) {
	_, err := io.ReadAll(r.Body)
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		w.WriteHeader(http.StatusRequestTimeout)
		return
	}
	p, ok := IdentityOf(r.Context())
	if !ok {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/stream") {
		stream(w, r)
		return
	}
	json.NewEncoder(w).Encode(p)
}

// stream sends a line a minute until the client has gone.
func stream(w http.ResponseWriter, r *http.Request) {
	for {
		io.WriteString(w, "tick\n")
		http.NewResponseController(w).Flush()
		select {
		case <-time.After(time.Minute):
		case <-r.Context().Done():
			return
		}
	}
}

// guarded is the server of these tests.
func guarded(t *testing.T, o Options, cert Certificate) (*Guard, *http.Server) {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", http.HandlerFunc(endpoint))
	mux.Handle("/mcp/", http.HandlerFunc(endpoint))
	top := http.NewServeMux()
	top.Handle("/", g.Protect(mux))
	top.Handle(MetadataPath, g.Open(g.Metadata()))
	top.Handle(MetadataPath+"/", g.Open(g.Metadata()))
	s, err := g.Server(Plain(top), cert, log.New(io.Discard, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return g, s
}

// serve serves as ops.Serve does.
func serve(s *http.Server, l net.Listener) {
	if s.TLSConfig != nil {
		s.ServeTLS(l, "", "")
		return
	}
	s.Serve(l)
}

// start serves on a socket and returns its address.
func start(t *testing.T, o Options) string {
	t.Helper()
	g, s := guarded(t, o, Certificate{})
	l, err := g.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go serve(s, l)
	return l.Addr().String()
}

// An answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   string
	closed bool // the server hangs up
}

// message is the JSON-RPC error's.
func (a answer) message(t *testing.T) string {
	t.Helper()
	var e struct {
		JSONRPC string
		ID      any
		Error   struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.JSONRPC != "2.0" || e.Error.Code != -32600 || !strings.Contains(a.body, `"id":null`) {
		t.Errorf("no JSON-RPC error: %d %s", a.status, a.body)
	}
	return e.Error.Message
}

func (a answer) identity(t *testing.T) Identity {
	t.Helper()
	var p Identity
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != http.StatusOK {
		t.Fatalf("no identity: %d %s", a.status, a.body)
	}
	return p
}

// send sends a request; headers are name, value, name, value, …
func send(t *testing.T, method, url string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return received(t, resp)
}

func received(t *testing.T, resp *http.Response) answer {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body), resp.Close}
}

// raw writes bytes to the server and reads one answer; status 0 for a connection that ends without
// one.
func raw(t *testing.T, addr, text string) answer {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go io.WriteString(c, text)
	c.SetReadDeadline(time.Now().Add(patient))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return answer{}
	}
	body, _ := io.ReadAll(resp.Body) // a server that hangs up while bytes come may take back its last ones
	return answer{resp.StatusCode, resp.Header, string(body), resp.Close}
}

// BenchmarkProtect is what the guard adds to a request that comes in.
func BenchmarkProtect(b *testing.B) {
	token, hash := withToken("reader")
	for name, o := range map[string]Options{"anonymous": {}, "token": {Tokens: []Token{hash}, Agents: []string{"reader"}, RateLimit: 1e9}} {
		b.Run(name, func(b *testing.B) {
			g, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			h := g.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			r := httptest.NewRequest("POST", "http://localhost:8900/mcp", http.NoBody)
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				clear(w.Header())
				h.ServeHTTP(w, r)
			}
		})
	}
}
