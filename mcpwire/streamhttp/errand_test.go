package streamhttp

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"toolman/jsonrpc"
)

// A walker lends its goroutine, and knows where that is.
type walker struct {
	mu   sync.Mutex
	away bool
	gone chan struct{} // gets a value when it goes
}

func newWalker() *walker { return &walker{gone: make(chan struct{}, 10)} }

func (w *walker) Away() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = true
	w.gone <- struct{}{}
}

func (w *walker) Back() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = false
}

func (w *walker) isAway() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}

// A watcher is a handler that fails the test when it gets something of a walker who is
// said to be away.
type watcher struct {
	*catcher
	w *walker
}

func (h watcher) Message(m *jsonrpc.Message, b *jsonrpc.Batch) {
	if h.w.isAway() {
		h.t.Errorf("%s comes while the goroutine that brings it is said to be away", m.Frame)
	}
	h.catcher.Message(m, b)
}

// lenderOf connects to a server.
func lenderOf(t *testing.T, f *fake) (*Conn, *catcher, *walker) {
	t.Helper()
	c, h := dial(t, Options{URL: f.URL})
	w := newWalker()
	c.Start(watcher{h, w})
	return c, h, w
}

// lend passes a message the way somebody does who lends the goroutine, and returns when that is
// back.
func lend(t *testing.T, c *Conn, w *walker, frame string) {
	t.Helper()
	var m jsonrpc.Message
	var b jsonrpc.Batch
	b.Lend(w)
	if err := jsonrpc.Scan([]byte(frame), &m); err != nil {
		t.Error(err)
	}
	if err := b.Pass(c, &m); err != nil {
		t.Error(err)
	}
	b.Flush()
	if w.isAway() {
		t.Error("it is back and said to be away")
	}
}

const (
	modernCall = `{"jsonrpc":"2.0","id":%d,"method":"%s","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	theAnswer  = `{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete"}}`
	aNotice    = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`
)

func TestWhoLendsTheGoroutineIsBackWithTheAnswer(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, again bool){
		"as JSON": func(w http.ResponseWriter, _ bool) { asJSON(w, 200, fmt.Sprintf(theAnswer, 1)) },
		"on a stream": func(w http.ResponseWriter, _ bool) {
			stream(w)(data(fmt.Sprintf(theAnswer, 1)))
		},
		"at the second try": func(w http.ResponseWriter, again bool) {
			if !again {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			asJSON(w, 200, fmt.Sprintf(theAnswer, 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			f := serve(t, func(w http.ResponseWriter, _ *http.Request, _ string) { answer(w, tries.Add(1) > 1) })
			c, h, w := lenderOf(t, f)
			lend(t, c, w, fmt.Sprintf(modernCall, 1, "resources/read"))
			select {
			case got := <-h.frames:
				if want := fmt.Sprintf(theAnswer, 1); got != want {
					t.Errorf("got %s", got)
				}
			default:
				t.Error("it is back without the answer")
			}
		})
	}
}

func TestAStreamThatGoesOnNeedsAGoroutineOfItsOwn(t *testing.T) {
	more := make(chan struct{})
	f := serve(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		say := stream(w)
		say(data(fmt.Sprintf(aNotice, 1)))
		<-more
		say(data(fmt.Sprintf(aNotice, 2)) + data(fmt.Sprintf(theAnswer, 1)))
	})
	c, h, w := lenderOf(t, f)
	lend(t, c, w, fmt.Sprintf(modernCall, 1, "tools/call"))
	h.want(fmt.Sprintf(aNotice, 1))
	h.none()
	close(more)
	h.want(fmt.Sprintf(aNotice, 2))
	h.want(fmt.Sprintf(theAnswer, 1))
}

func TestWhoLendsTheGoroutineIsBackWhenNobodyWaitsForTheAnswer(t *testing.T) {
	for name, end := range map[string]func(c *Conn){
		"the request is taken back": func(c *Conn) {
			c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		},
		"the connection is closed": func(c *Conn) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() })
			c, h, w := lenderOf(t, f)
			back := make(chan struct{})
			go func() {
				defer close(back)
				lend(t, c, w, fmt.Sprintf(modernCall, 1, "tools/call"))
			}()
			<-w.gone
			<-f.requests
			end(c)
			<-back
			h.none()
		})
	}
}

// What another has queued is not waited for: it has a goroutine of its own.
func TestNobodyWaitsForTheRequestOfAnother(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	f := serve(t, func(w http.ResponseWriter, _ *http.Request, body string) {
		if body == fmt.Sprintf(modernCall, 2, "tools/call") {
			<-release
			return
		}
		asJSON(w, 200, fmt.Sprintf(theAnswer, 1))
	})
	c, h, w := lenderOf(t, f)
	if err := c.Queue([]byte(fmt.Sprintf(modernCall, 2, "tools/call")), nil); err != nil {
		t.Fatal(err)
	}
	lend(t, c, w, fmt.Sprintf(modernCall, 1, "tools/call"))
	h.want(fmt.Sprintf(theAnswer, 1))
	if c.Answering() != 1 {
		t.Errorf("%d requests have no answer, want the other one", c.Answering())
	}
}
