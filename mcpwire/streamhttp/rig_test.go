package streamhttp

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire/httpheader"
)

// patient is how long a test waits for what has to come.
const patient = time.Minute

// A catcher is a handler that keeps what comes.
type catcher struct {
	frames chan string
	closed chan error
	inside sync.Mutex // fails the test when two messages come at once
	during func()     // if not nil, runs while a message is delivered
	t      *testing.T
}

func newCatcher(t *testing.T) *catcher {
	return &catcher{frames: make(chan string, 1000), closed: make(chan error, 2), t: t}
}

func (h *catcher) Message(m *jsonrpc.Message, _ *peer.Outgoing) { h.keep(string(m.Frame)) }
func (h *catcher) Bad(m *jsonrpc.Message, err error, _ *peer.Outgoing) {
	h.keep(fmt.Sprintf("bad: %v", err))
}
func (h *catcher) Closed(err error) { h.closed <- err }

func (h *catcher) keep(text string) {
	if !h.inside.TryLock() {
		h.t.Error("two messages were delivered at once")
		return
	}
	defer h.inside.Unlock()
	if h.during != nil {
		h.during()
	}
	h.frames <- text
}

// next returns the next message that came.
func (h *catcher) next() string {
	h.t.Helper()
	select {
	case frame := <-h.frames:
		return frame
	case <-time.After(patient):
		h.t.Fatal("nothing came")
		return ""
	}
}

// want fails unless the next message is this one.
func (h *catcher) want(frame string) {
	h.t.Helper()
	if got := h.next(); got != frame {
		h.t.Fatalf("got  %s\nwant %s", got, frame)
	}
}

// none fails if anything has come.
func (h *catcher) none() {
	h.t.Helper()
	select {
	case frame := <-h.frames:
		h.t.Fatalf("unexpectedly got %s", frame)
	case <-time.After(50 * time.Millisecond):
	}
}

// A heard is a request that a server got.
type heard struct {
	Method, Body string
	Header       http.Header
	URL          string
}

// A fake is an HTTP server that does as it is told and remembers what it heard.
type fake struct {
	*httptest.Server
	requests chan heard
}

// serve starts a server whose answers answer makes.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body string)) *fake {
	f := &fake{requests: make(chan heard, 1000)}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.requests <- heard{r.Method, string(body), r.Header.Clone(), r.URL.String()}
		answer(w, r, string(body))
	}))
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

// heard returns the next request that the server got.
func (f *fake) heard(t *testing.T) heard {
	t.Helper()
	select {
	case r := <-f.requests:
		return r
	case <-time.After(patient):
		t.Fatal("the server heard nothing")
		return heard{}
	}
}

// silent fails if the server got something.
func (f *fake) silent(t *testing.T) {
	t.Helper()
	select {
	case r := <-f.requests:
		t.Fatalf("the server got %s %s", r.Method, r.Body)
	case <-time.After(50 * time.Millisecond):
	}
}

// silentUntil fails if the server got something before a time. It reports whether the server still
// has got nothing: a test on a busy machine may come later than a limit of the connection.
func (f *fake) silentUntil(t *testing.T, limit time.Time) bool {
	t.Helper()
	select {
	case r := <-f.requests:
		if time.Now().Before(limit) {
			t.Fatalf("the server got %s %s", r.Method, r.Body)
		}
		return false
	case <-time.After(50 * time.Millisecond):
		return true
	}
}

// dial connects to a URL, and ends the connection with the test.
func dial(t *testing.T, o Options) (*Conn, *catcher) {
	t.Helper()
	h := newCatcher(t)
	c, err := Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	c.Start(h)
	t.Cleanup(c.Close)
	return c, h
}

func send(t *testing.T, c *Conn, frame string) {
	t.Helper()
	if err := c.Queue([]byte(frame), nil); err != nil {
		t.Fatal(err)
	}
	c.Flush()
}

// idOf returns the id in a frame that was written in this package.
func idOf(body string) string {
	var m jsonrpc.Message
	if jsonrpc.Scan([]byte(body), &m) != nil || !m.ID.Present() {
		return "null"
	}
	return string(m.Bytes(m.ID))
}

func result(body, result string) string {
	return `{"jsonrpc":"2.0","id":` + idOf(body) + `,"result":` + result + `}`
}

// asJSON answers with one JSON object.
func asJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", httpheader.JSON)
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// stream begins a stream of events, and returns what writes to it.
func stream(w http.ResponseWriter) func(text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := func(text string) {
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	flush("")
	return flush
}

func data(frame string) string { return "event: message\ndata: " + frame + "\n\n" }

const (
	hello       = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	welcome     = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}`
)

// modern is a request of the modern era; members are further members of its params.
func modern(id, method, members string) string {
	if members != "" {
		members += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + members +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
}

func legacy(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`
}

// methodOf is the method of a body that was posted, or the HTTP method where there is none.
func (r heard) method() string {
	var m jsonrpc.Message
	if jsonrpc.Scan([]byte(r.Body), &m) != nil {
		return r.Method
	}
	if m.Kind == jsonrpc.Response {
		return "response"
	}
	return string(m.Text(m.Method))
}

func methodIs(body, method string) bool { return strings.Contains(body, `"method":"`+method+`"`) }
