package ops

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"toolman/fixtures/fakemcp"
	"toolman/fixtures/mcptest"
	"toolman/jsonrpc/peer"
	"toolman/router"
	"toolman/router/upstream"
	"toolman/spawn"
)

func TestMain(m *testing.M) {
	fakemcp.RunIfAsked()
	os.Exit(m.Run())
}

// fakeServer is how a fake server with these tools is started.
func fakeServer(t *testing.T, namespace string, spec fakemcp.Spec) upstream.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/spec.json"
	if err := spec.Save(file); err != nil {
		t.Fatal(err)
	}
	return upstream.Server{Namespace: namespace, StartTimeout: mcptest.Patience,
		Command: spawn.Command{Argv: []string{self, "fakemcp", "--spec", file}, Env: os.Environ()}}
}

// startRouter runs a router in front of real processes until the test ends.
func startRouter(t *testing.T, o router.Options) *router.Router {
	t.Helper()
	loop, err := peer.NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	r := router.New(o, loop, zap.NewNop())
	t.Cleanup(func() {
		r.Close()
		loop.Close()
	})
	r.Start(nil)
	r.HandshakeFull()
	return r
}

// get reads a path of a server.
func get(t *testing.T, url string) (status int, body string, header http.Header) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(text)), resp.Header
}

func serveHandler(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestAliveUnlessNothingCanRecover(t *testing.T) {
	const starting, ready, gone, apart = upstream.Starting, upstream.Ready, upstream.Gone, upstream.PerSession
	for _, tt := range []struct {
		name   string
		states []upstream.State
		retry  time.Duration
		status int
	}{
		{"none is configured", nil, 0, 200},
		{"one is left", []upstream.State{gone, ready}, 0, 200},
		{"one starts", []upstream.State{gone, starting}, 0, 200},
		{"each session has its own", []upstream.State{gone, apart}, 0, 200},
		{"all will be started again", []upstream.State{gone, gone}, time.Minute, 200},
		{"all are gone for good", []upstream.State{gone, gone}, 0, 503},
	} {
		status, body, header := get(t, serveHandler(t, Alive(&gateway{states: tt.states, retry: tt.retry}))+"/healthz")
		if status != tt.status || strings.Contains(body, `"ok":true`) != (status == 200) || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %d %s %v", tt.name, status, body, header)
		}
	}
}

func TestWhatIsReadIsNotWritten(t *testing.T) {
	url := serveHandler(t, Alive(&gateway{}))
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		req, _ := http.NewRequest(method, url, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: got %d, Allow %q", method, resp.StatusCode, resp.Header.Get("Allow"))
		}
	}
	resp, err := http.Head(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("HEAD: %d", resp.StatusCode)
	}
}

// A gateway is in whatever state a test wants.
type gateway struct {
	started chan struct{}
	states  []upstream.State
	retry   time.Duration // of all servers
}

func (g *gateway) Started() <-chan struct{} { return g.started }

func (g *gateway) Sessions() int { return 0 }

func (g *gateway) Upstreams() (all []upstream.Status) {
	for i, s := range g.states {
		all = append(all, upstream.Status{Name: string(rune('a' + i)), State: s, Problem: "it ended with exit status 3", Stderr: "secret", Failures: 2, Retry: g.retry})
	}
	return all
}

// naming is a health that names all servers.
func naming(h *Health) *Health {
	h.Known = func(*http.Request) []upstream.Status { return append([]upstream.Status{}, h.gateway.Upstreams()...) }
	return h
}

func TestHealth(t *testing.T) {
	const starting, ready, gone, apart = upstream.Starting, upstream.Ready, upstream.Gone, upstream.PerSession
	for _, tt := range []struct {
		name    string
		started bool
		ending  bool
		states  []upstream.State
		status  int
		body    string
	}{
		{"servers start", false, false, []upstream.State{ready, starting}, 503,
			`{"ok":false,"problem":"the servers are starting","servers":[{"name":"a","status":"ready"},{"name":"b","status":"starting"}]}`},
		{"all ready", true, false, []upstream.State{ready, ready}, 200,
			`{"ok":true,"servers":[{"name":"a","status":"ready"},{"name":"b","status":"ready"}]}`},
		{"one is late, one gone", true, false, []upstream.State{ready, starting, gone}, 200,
			`{"ok":true,"servers":[{"name":"a","status":"ready"},{"name":"b","status":"starting"},{"name":"c","status":"gone","problem":"it ended with exit status 3","failures":2}]}`},
		{"each session has its own", true, false, []upstream.State{apart, gone}, 200,
			`{"ok":true,"servers":[{"name":"a","status":"per session"},{"name":"b","status":"gone","problem":"it ended with exit status 3","failures":2}]}`},
		{"none is left", true, false, []upstream.State{gone, gone}, 503,
			`{"ok":false,"problem":"no server is ready","servers":[{"name":"a","status":"gone","problem":"it ended with exit status 3","failures":2},{"name":"b","status":"gone","problem":"it ended with exit status 3","failures":2}]}`},
		{"the only one is late", true, false, []upstream.State{starting}, 503,
			`{"ok":false,"problem":"no server is ready","servers":[{"name":"a","status":"starting"}]}`},
		{"none is configured", true, false, nil, 200, `{"ok":true,"servers":[]}`},
		{"toolman is ending before it has begun", false, true, nil, 503, `{"ok":false,"problem":"toolman is ending","servers":[]}`},
		{"toolman is ending", true, true, []upstream.State{ready}, 503,
			`{"ok":false,"problem":"toolman is ending","servers":[{"name":"a","status":"ready"}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &gateway{started: make(chan struct{}), states: tt.states}
			if tt.started {
				close(g.started)
			}
			h := naming(NewHealth(g))
			if tt.ending {
				h.End()
			}
			status, body, _ := get(t, serveHandler(t, h))
			if status != tt.status || body != tt.body {
				t.Errorf("got  %d %s\nwant %d %s", status, body, tt.status, tt.body)
			}
		})
	}
}

func TestHealthOfARealRouter(t *testing.T) {
	r := startRouter(t, router.Options{URISeparator: "_", Servers: []upstream.Server{
		fakeServer(t, "fs", fakemcp.Spec{Tools: []fakemcp.Raw{fakemcp.Tool("read", "")}}),
		{Namespace: "gone", StartTimeout: time.Second, Command: spawn.Command{Argv: []string{"/nowhere/at/all"}}},
	}})
	<-r.Started()
	if status, body, _ := get(t, serveHandler(t, NewHealth(r))); status != 200 || body != `{"ok":true}` {
		t.Errorf("a stranger gets %d %s", status, body)
	}
	status, body, _ := get(t, serveHandler(t, naming(NewHealth(r))))
	if want := `{"ok":true,"servers":[{"name":"fs","status":"ready"},{"name":"gone","status":"gone","problem":"`; status != 200 || !strings.HasPrefix(body, want) || !strings.Contains(body, "/nowhere/at/all") {
		t.Errorf("got  %d %s\nwant 200 %s… /nowhere/at/all …", status, body, want)
	}
}

func TestDocument(t *testing.T) {
	text := func(said string, err error) http.Handler {
		return Document("application/schema+json", func(*http.Request) ([]byte, error) { return []byte(said), err })
	}
	_, body, header := get(t, serveHandler(t, text(`{"type":"object"}`, nil)))
	if body != `{"type":"object"}` || header.Get("Content-Type") != "application/schema+json" {
		t.Errorf("got %s %v", body, header)
	}
	if status, body, _ := get(t, serveHandler(t, text("", errors.New("not for you")))); status != 404 || !strings.Contains(body, "not for you") {
		t.Errorf("an error is %d %s", status, body)
	}
}

// await waits until something has become so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	mcptest.Eventually(t, what, so)
}
