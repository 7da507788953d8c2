package httpd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"toolman/fixtures/fakemcp"
	"toolman/fixtures/mcptest"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/spawn"
)

func TestMain(m *testing.M) {
	fakemcp.RunIfAsked()
	os.Exit(m.Run())
}

// soonIdle is after how long sessions end in tests of that. A busy machine may need seconds for the
// next request.
const soonIdle = 6 * time.Second

// A front is an endpoint with a socket, in front of a router with a fake server.
type front struct {
	t   *testing.T
	e   *Endpoint
	url string
}

// newFront serves a fake server whose items are all active, under the namespace fs.
func newFront(t *testing.T, spec fakemcp.Spec, o Options) *front {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.json")
	if err := spec.Save(path); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newFrontOf(t, upstream.Server{Namespace: "fs",
		Command: spawn.Command{Argv: []string{self, "fakemcp", "--spec", path}, Env: os.Environ()}, StartTimeout: mcptest.Patience}, o)
}

// newFrontOf serves a server whose items are all active.
func newFrontOf(t *testing.T, server upstream.Server, o Options) *front {
	t.Helper()
	globs, err := catalog.CompileGlobs([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	loop, err := peer.NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(loop.Close)
	r := router.New(router.Options{Active: globs, URISeparator: "_", Servers: []upstream.Server{server}}, loop, zap.NewNop())
	r.Start(nil)
	r.HandshakeShared()
	t.Cleanup(r.Close)
	<-r.Started()
	f := &front{t: t, e: New(r, o)}
	t.Cleanup(f.e.Close)
	mux := http.NewServeMux()
	mux.Handle("/mcp", f.e)
	mux.Handle("/mcp/{name}", f.e)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	f.url = srv.URL + "/mcp"
	return f
}

// echoing is a server of an era with the tools echo and slow, and more scripts.
func echoing(eras string, on map[string][]fakemcp.Step) fakemcp.Spec {
	spec := fakemcp.Spec{Eras: eras, Tools: []fakemcp.Raw{fakemcp.Tool("echo", "says it again")}, On: on}
	for key := range on {
		if name, ok := strings.CutPrefix(key, "tools/call "); ok {
			spec.Tools = append(spec.Tools, fakemcp.Tool(name, "does as it is told"))
		}
	}
	return spec
}

// A request is one to the endpoint. Its zero value is a POST of a client that says all
// that it should.
type request struct {
	method, path string
	body         string
	header       map[string]string // "" leaves one out that is there otherwise
	ctx          context.Context
}

// A reply is what came of one; the caller reads its body.
type reply struct {
	*http.Response
	t      *testing.T
	events *bufio.Reader
}

func (f *front) do(q request) *reply {
	f.t.Helper()
	response, err := f.request(q)
	if err != nil {
		f.t.Fatalf("%s: %v", q.body, err)
	}
	f.t.Cleanup(func() { response.Body.Close() })
	return &reply{Response: response, t: f.t, events: bufio.NewReader(response.Body)}
}

func (f *front) request(q request) (*http.Response, error) {
	f.t.Helper()
	if q.ctx == nil {
		q.ctx = f.t.Context()
	}
	if q.method == "" {
		q.method = "POST"
	}
	r, err := http.NewRequestWithContext(q.ctx, q.method, f.url+q.path, strings.NewReader(q.body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	for key, value := range q.header {
		if r.Header.Del(key); value != "" {
			r.Header.Set(key, value)
		}
	}
	return http.DefaultClient.Do(r)
}

// text is all of the body.
func (r *reply) text() string {
	r.t.Helper()
	all, err := io.ReadAll(r.events)
	if err != nil {
		r.t.Fatalf("reading a body: %v", err)
	}
	return string(all)
}

// event is the data of the next event, "" at the end.
func (r *reply) event() string {
	r.t.Helper()
	for {
		line, err := r.events.ReadString('\n')
		if err != nil {
			return ""
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSuffix(data, "\n")
		}
	}
}

// wants asserts the status, the media type and the body.
func (r *reply) wants(status int, kind, body string) {
	r.t.Helper()
	got := r.text()
	if r.StatusCode != status || r.Header.Get("Content-Type") != kind || got != body {
		r.t.Errorf("got %d %s %s\nwant %d %s %s", r.StatusCode, r.Header.Get("Content-Type"), got, status, kind, body)
	}
}

// envelope is the _meta of a modern request, with more members behind it.
func envelope(more string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}` + more + `}`
}

// modern makes a modern request: params are members, and name is what it is about.
func modern(id, method, name, params, meta string) request {
	if params != "" {
		params += ","
	}
	q := request{body: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, params, envelope(meta)),
		header: map[string]string{"MCP-Protocol-Version": mcpwire.Newest, "Mcp-Method": method}}
	if name != "" {
		q.header["Mcp-Name"] = name
	}
	return q
}

// toolCall makes a modern call of a tool.
func toolCall(id, tool, arguments, meta string) request {
	return modern(id, "tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments), meta)
}

// A legacyClient is a session of the legacy era.
type legacyClient struct {
	*front
	id string
}

// initialize begins a session.
func (f *front) initialize(revision, capabilities string) *legacyClient {
	f.t.Helper()
	r := f.do(request{body: fmt.Sprintf(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"c","version":"1"}}}`, revision, capabilities)})
	if text := r.text(); r.StatusCode != 200 || !strings.Contains(text, `"protocolVersion":"`+revision+`"`) {
		f.t.Fatalf("initialize: %d %s", r.StatusCode, text)
	}
	c := &legacyClient{f, r.Header.Get("Mcp-Session-Id")}
	c.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// ask makes a request of the session.
func (c *legacyClient) ask(q request) *reply {
	c.t.Helper()
	header := map[string]string{"Mcp-Session-Id": c.id, "MCP-Protocol-Version": mcpwire.Latest}
	for key, value := range q.header {
		header[key] = value
	}
	q.header = header
	return c.do(q)
}

// says POSTs what has no answer.
func (c *legacyClient) says(body string) {
	c.t.Helper()
	c.ask(request{body: body}).wants(202, "", "")
}

func (c *legacyClient) listens() *reply {
	c.t.Helper()
	r := c.ask(request{method: "GET"})
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != httpheader.EventStream {
		c.t.Fatalf("GET: %d %s", r.StatusCode, r.text())
	}
	return r
}

func legacyCall(id, tool, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, arguments, meta)
}

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(mcptest.Patience); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came that %s", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
