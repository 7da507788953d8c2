package httpd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolman/fixtures/mcptest"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/streamhttp"
	"toolman/router/dial"
	"toolman/router/httpd/presence"
	"toolman/router/upstream"
)

// A far server is reached over HTTP. What its tools do, the test does.
type far struct {
	*httptest.Server
	modern bool
	calls  chan *farCall
	begun  atomic.Int64 // sessions
	told   sync.Map     // by session: a channel of what goes out on its GET stream
}

// A farCall is a call that the server has and has not answered.
type farCall struct {
	w     http.ResponseWriter
	id    string
	token string
	told  chan<- string   // goes out on the GET stream of its session
	gone  <-chan struct{} // closed when nobody waits for the answer
	over  chan struct{}   // closed by the test
}

func newFar(t *testing.T, modern bool) *far {
	f := &far{modern: modern, calls: make(chan *farCall, 10)}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	t.Cleanup(f.CloseClientConnections)
	return f
}

var (
	idOfBody    = regexp.MustCompile(`"id":("[^"]*"|\d+)`)
	saidOfToken = regexp.MustCompile(`"progressToken":"([^"]*)"`)
	saidOfBody  = regexp.MustCompile(`"said":"([^"]*)"`)
	tokenOfBody = regexp.MustCompile(`"progressToken":(\d+)`)
)

const farTools = `"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"mixed","inputSchema":{"type":"object"}},{"name":"slow","inputSchema":{"type":"object"}}]`

func (f *far) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	text := string(body)
	id := ""
	if found := idOfBody.FindStringSubmatch(text); found != nil {
		id = found[1]
	}
	has := func(what string) bool { return strings.Contains(text, what) }
	switch {
	case r.Method == http.MethodGet:
		f.stream(w, r)
	case has(`"server/discover"`) && f.modern:
		farAnswer(w, id, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case has(`"initialize"`):
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", f.begun.Add(1)))
		farAnswer(w, id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"far","version":"1"}}`)
	case has(`"tools/list"`) && f.modern:
		farAnswer(w, id, `{"resultType":"complete","ttlMs":0,"cacheScope":"private",`+farTools+`}`)
	case has(`"tools/list"`):
		farAnswer(w, id, `{`+farTools+`}`)
	case has(`"name":"echo"`):
		farAnswer(w, id, f.result("at once"))
	case has(`"name":"mixed"`):
		f.mixed(w, r, id, text)
	case has(`"tools/call"`):
		c := &farCall{w: w, id: id, told: f.tellers(r), gone: r.Context().Done(), over: make(chan struct{})}
		if found := tokenOfBody.FindStringSubmatch(text); found != nil {
			c.token = found[1]
		}
		f.calls <- c
		select {
		case <-c.over:
		case <-c.gone:
		}
	case id == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", httpheader.JSON)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id)
	}
}

// mixed answers with what the call says, in the way that that says.
func (f *far) mixed(w http.ResponseWriter, r *http.Request, id, call string) {
	said := saidOfBody.FindStringSubmatch(call)[1]
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, f.result(said))
	progress := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":%q}}`,
		tokenOfBody.FindStringSubmatch(call)[1], said)
	switch said[0] {
	case 'a':
		farAnswer(w, id, f.result(said))
		return
	case 'b':
		progress = ""
	case 'c':
		f.tellers(r) <- progress // which may come after the answer, and to nobody
		farAnswer(w, id, f.result(said))
		return
	}
	w.Header().Set("Content-Type", httpheader.EventStream)
	for _, frame := range []string{progress, answer} {
		if frame != "" {
			fmt.Fprintf(w, "data: %s\n\n", frame)
			http.NewResponseController(w).Flush()
		}
	}
}

// tellers is where to say what goes out on the GET stream of a request's session.
func (f *far) tellers(r *http.Request) chan string {
	c, _ := f.told.LoadOrStore(r.Header.Get("Mcp-Session-Id"), make(chan string, 10))
	return c.(chan string)
}

// stream serves what belongs to no request.
func (f *far) stream(w http.ResponseWriter, r *http.Request) {
	told := f.tellers(r)
	w.Header().Set("Content-Type", httpheader.EventStream)
	w.WriteHeader(http.StatusOK)
	for {
		http.NewResponseController(w).Flush()
		select {
		case text := <-told:
			fmt.Fprintf(w, "data: %s\n\n", text)
		case <-r.Context().Done():
			return
		}
	}
}

func (f *far) result(text string) string {
	if f.modern {
		return `{"resultType":"complete","content":[{"type":"text","text":"` + text + `"}]}`
	}
	return `{"content":[{"type":"text","text":"` + text + `"}]}`
}

func farAnswer(w http.ResponseWriter, id, result string) {
	w.Header().Set("Content-Type", httpheader.JSON)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// next is the next call that the server gets.
func (f *far) next(t *testing.T) *farCall {
	t.Helper()
	select {
	case c := <-f.calls:
		return c
	case <-time.After(mcptest.Patience):
		t.Fatal("the server gets no call")
		return nil
	}
}

// has fails if the server does not have the call any more.
func (c *farCall) has(t *testing.T) {
	t.Helper()
	select {
	case <-c.gone:
		t.Error("the server was left")
	default:
	}
}

// A farConn is the router's connection to it.
type farConn struct{ *streamhttp.Conn }

func (c farConn) Out() peer.Sender                            { return c.Conn }
func (c farConn) Start(h peer.Handler, ended <-chan struct{}) { c.Conn.Start(h) }
func (c farConn) Cause(err error) (string, bool)              { return err.Error(), true }
func (c farConn) LastWords() string                           { return "" }
func (c farConn) Stop()                                       { c.Close(); <-c.Done() }

// newFrontOfFar serves a server that is reached over HTTP.
func newFrontOfFar(t *testing.T, f *far, callTimeout time.Duration, o Options) *front {
	return newFrontOf(t, upstream.Server{Namespace: "fs", StartTimeout: mcptest.Patience, CallTimeout: callTimeout,
		Dial: func(func(string)) (dial.Conn, error) {
			c, err := streamhttp.Dial(streamhttp.Options{URL: f.URL})
			return farConn{c}, err
		}}, o)
}

const called = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`

func TestAnAnswerOfARemoteServerComesOnAConnectionThatStaysOpen(t *testing.T) {
	f := newFrontOfFar(t, newFar(t, false), 0, Options{})
	c := f.initialize(mcpwire.Latest, `{}`)
	for i := range 20 {
		reused := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
		c.ask(request{ctx: ctx, body: legacyCall(`"mine"`, "fs_echo", `{}`, "")}).wants(200, httpheader.JSON, fmt.Sprintf(called, `"mine"`, "at once"))
		if reused && i > 0 {
			return
		} // net/http's client itself gives a connection up if it is paused for 50 ms
	}
	t.Error("the client had to open another connection each time")
}

func TestConcurrentCallsOfARemoteServerMixNothingUp(t *testing.T) {
	f := newFrontOfFar(t, newFar(t, false), 0, Options{KeepAlive: time.Millisecond})
	c := f.initialize(mcpwire.Latest, `{}`)
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for j := range 20 {
				said := fmt.Sprintf("%c %d %d", "abcd"[j%4], i, j)
				r := c.ask(request{body: legacyCall(`1`, "fs_mixed", `{"said":"`+said+`"}`, fmt.Sprintf(`,"_meta":{"progressToken":%q}`, said))})
				text := r.text()
				if n := strings.Count(text, `"result"`); n != 1 || !strings.Contains(text, fmt.Sprintf(called, `1`, said)) {
					t.Errorf("%s: got %s", said, text)
				}
				for _, token := range saidOfToken.FindAllStringSubmatch(text, -1) {
					if token[1] != said {
						t.Errorf("%s: got progress of another: %s", said, text)
					}
				}
				if said[0] == 'd' && !strings.Contains(text, `"progress":1`) {
					t.Errorf("%s: got no progress: %s", said, text)
				}
			}
		})
	}
	all.Wait()
	await(t, "all calls are over", func() bool { return f.e.Calls() == 0 })
}

func TestProgressOnTheServersGETStreamReachesTheClient(t *testing.T) {
	server := newFar(t, false)
	f := newFrontOfFar(t, server, 0, Options{})
	c := f.initialize(mcpwire.Latest, `{}`)
	answered := make(chan *reply, 1)
	go func() {
		answered <- c.ask(request{body: legacyCall(`7`, "fs_slow", `{}`, `,"_meta":{"progressToken":"p"}`)})
	}()
	call := server.next(t)
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`
	call.told <- fmt.Sprintf(progress, call.token)
	r := <-answered
	if got, want := r.event(), fmt.Sprintf(progress, `"p"`); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	farAnswer(call.w, call.id, server.result("late"))
	close(call.over)
	if got, want := r.event(), fmt.Sprintf(called, `7`, "late"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if rest := r.text(); strings.TrimSpace(rest) != "" {
		t.Errorf("then %q came", rest)
	}
	await(t, "the call is over", func() bool { return f.e.Calls() == 0 })
}

func TestATimeoutDoesNotWaitForTheRemoteServer(t *testing.T) {
	server := newFar(t, false)
	f := newFrontOfFar(t, server, 500*time.Millisecond, Options{})
	c := f.initialize(mcpwire.Latest, `{}`)
	for range 2 {
		r := c.ask(request{body: legacyCall(`7`, "fs_slow", `{}`, "")})
		if text := r.text(); r.StatusCode != 200 || !strings.Contains(text, "call_timeout") {
			t.Errorf("got %d %s", r.StatusCode, text)
		}
		server.next(t).has(t)
	}
	await(t, "the calls are over", func() bool { return f.e.Calls() == 0 })
}

func TestAClientThatDisconnectsFromACallOfARemoteServer(t *testing.T) {
	for name, modern := range map[string]bool{"calls off a modern request": true, "leaves a legacy one alone": false} {
		t.Run(name, func(t *testing.T) {
			server := newFar(t, modern)
			f := newFrontOfFar(t, server, 0, Options{Options: presence.Options{Idle: soonIdle}})
			ctx, cancel := context.WithCancel(t.Context())
			q := toolCall(`1`, "fs_slow", `{}`, "")
			if !modern {
				c := f.initialize(mcpwire.Latest, `{}`)
				q = request{body: legacyCall(`1`, "fs_slow", `{}`, ""), header: map[string]string{"Mcp-Session-Id": c.id}}
			}
			q.ctx = ctx
			go func() {
				r, err := f.request(q)
				if err == nil {
					r.Body.Close()
					t.Errorf("got %v", r.Status)
				}
			}()
			call := server.next(t)
			cancel()
			if modern {
				<-call.gone
			}
			await(t, "the call is over", func() bool { return f.e.Calls() == 0 })
			if !modern {
				call.has(t)
			}
			await(t, "the session has ended, which nobody uses", func() bool { return f.e.Sessions() == 0 })
			close(call.over)
		})
	}
}

func TestTheEndOfASessionEndsTheResponseOfARemoteCall(t *testing.T) {
	server := newFar(t, false)
	f := newFrontOfFar(t, server, 0, Options{})
	c := f.initialize(mcpwire.Latest, `{}`)
	answered := make(chan *reply, 1)
	go func() { answered <- c.ask(request{body: legacyCall(`7`, "fs_slow", `{}`, "")}) }()
	call := server.next(t)
	defer close(call.over)
	c.ask(request{method: "DELETE"}).wants(204, "", "")
	if text := (<-answered).text(); strings.Contains(text, "data:") {
		t.Errorf("got %s", text)
	}
	call.has(t)
}

func TestASilentCallOfARemoteServerIsKeptAlive(t *testing.T) {
	server := newFar(t, true)
	f := newFrontOfFar(t, server, 0, Options{KeepAlive: 10 * time.Millisecond})
	r := f.do(toolCall(`1`, "fs_slow", `{}`, ""))
	call := server.next(t)
	for range 3 {
		if line, err := r.events.ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") && line != "\n" {
			t.Errorf("got %q, %v", line, err)
		}
	}
	farAnswer(call.w, call.id, server.result("late"))
	close(call.over)
	if got := r.event(); !strings.Contains(got, `"late"`) {
		t.Errorf("got %q", got)
	}
}

// A modern client comes back with what a legacy server has asked for; until then the
// server has the call, and the client a whole answer.
func TestAServerRequestOnTheGETStreamIsTheAnswerToAModernCall(t *testing.T) {
	server := newFar(t, false)
	f := newFrontOfFar(t, server, 0, Options{})
	q := toolCall(`1`, "fs_slow", `{}`, "")
	q.body = strings.Replace(q.body, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{"form":{}}}`, 1)
	answered := make(chan string, 1)
	go func() { answered <- f.do(q).text() }()
	call := server.next(t)
	call.told <- `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}`
	first := <-answered
	if !strings.Contains(first, `"input_required"`) || !strings.Contains(first, "Sure?") {
		t.Fatalf("got %s", first)
	}
	farAnswer(call.w, call.id, server.result("late"))
	close(call.over)
}
