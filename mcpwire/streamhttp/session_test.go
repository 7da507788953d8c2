package streamhttp

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A sessions is a legacy server with sessions and a GET stream. Requests that it does not know it
// gives to other.
type sessions struct {
	mu      sync.Mutex
	n       int
	known   string
	streams chan func(string) // what writes to each GET stream that is opened
	other   http.HandlerFunc
	calls   atomic.Int32
}

func newSessions() *sessions { return &sessions{streams: make(chan func(string), 10)} }

// forget makes the server forget its session.
func (s *sessions) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = ""
}

func (s *sessions) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

func (s *sessions) serve(w http.ResponseWriter, r *http.Request, body string) {
	if methodIs(body, "initialize") {
		s.mu.Lock()
		s.n++
		s.known = fmt.Sprintf("session-%d", s.n)
		w.Header().Set("Mcp-Session-Id", s.known)
		s.mu.Unlock()
		asJSON(w, 200, result(body, welcome))
		return
	}
	if r.Header.Get("Mcp-Session-Id") != s.id() {
		asJSON(w, 404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`)
		return
	}
	switch {
	case r.Method == http.MethodGet:
		write, texts := stream(w), make(chan string, 10)
		s.streams <- func(text string) { texts <- text }
		for {
			select {
			case text := <-texts:
				write(text)
			case <-r.Context().Done():
				return
			}
		}
	case r.Method == http.MethodDelete:
		w.WriteHeader(200)
	case idOf(body) == "null":
		w.WriteHeader(202)
	case s.other != nil:
		s.other(w, r)
	default:
		s.calls.Add(1)
		asJSON(w, 200, result(body, "{}"))
	}
}

// begin does the handshake.
func begin(t *testing.T, conn *Conn, h *catcher) {
	t.Helper()
	send(t, conn, hello)
	h.want(`{"jsonrpc":"2.0","id":1,"result":` + welcome + `}`)
	send(t, conn, initialized)
}

func TestALegacySessionIsHeldFromInitializeToDelete(t *testing.T) {
	s := newSessions()
	f := serve(t, s.serve)
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	send(t, conn, legacy("2", "tools/list", "{}"))
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	write := <-s.streams
	write(data(`{"jsonrpc":"2.0","id":0,"method":"roots/list"}`))
	h.want(`{"jsonrpc":"2.0","id":0,"method":"roots/list"}`)
	send(t, conn, `{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}`)

	seen := map[string]heard{}
	for range 5 {
		r := f.heard(t)
		seen[r.method()] = r
	}
	if r := seen["initialize"]; r.Header.Get("Mcp-Session-Id") != "" || r.Header.Get("Mcp-Protocol-Version") != "" || r.Body != hello {
		t.Errorf("initialize came as %v", r)
	}
	for _, method := range []string{"notifications/initialized", "tools/list", "GET", "response"} {
		r, ok := seen[method]
		if !ok || r.Header.Get("Mcp-Session-Id") != "session-1" || r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" || r.Header.Get("Mcp-Method") != "" {
			t.Errorf("%s came as %v", method, r.Header)
		}
	}
	conn.CloseWrite()
	if r := f.heard(t); r.Method != "DELETE" || r.Header.Get("Mcp-Session-Id") != "session-1" {
		t.Errorf("at the end the server got %s", r.Method)
	}
	<-h.closed
}

func TestNothingOvertakesTheHandshake(t *testing.T) {
	s := newSessions()
	release := make(chan struct{})
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodIs(body, "notifications/initialized") || methodIs(body, "initialize") {
			<-release
		}
		s.serve(w, r, body)
	})
	conn, h := dial(t, Options{URL: f.URL})
	send(t, conn, hello)
	send(t, conn, initialized)
	send(t, conn, legacy("2", "tools/list", "{}"))
	if got := f.heard(t).method(); got != "initialize" {
		t.Fatalf("first came %s", got)
	}
	f.silent(t)
	release <- struct{}{}
	h.next()
	if got := f.heard(t).method(); got != "notifications/initialized" {
		t.Fatalf("then came %s", got)
	}
	f.silent(t)
	close(release)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
}

// Nor does what waits for a change of the session, which has a limit that the handshake has not.
func TestAChangeOfTheSessionWaitsForTheHandshake(t *testing.T) {
	s := newSessions()
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodIs(body, "notifications/initialized") {
			<-released
		}
		s.serve(w, r, body)
	})
	t.Cleanup(release)
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	send(t, conn, legacy("2", "logging/setLevel", `{"level":"debug"}`))
	send(t, conn, legacy("3", "tools/call", `{"name":"a"}`))
	for _, want := range []string{"initialize", "notifications/initialized"} {
		if got := f.heard(t).method(); got != want {
			t.Errorf("the server got %s, want %s", got, want)
		}
	}
	time.Sleep(settleTime)
	f.silent(t)
	release()
	h.next()
	h.next()
}

func TestNotificationsKeepTheirOrder(t *testing.T) {
	s := newSessions()
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodIs(body, "notifications/progress") {
			time.Sleep(time.Millisecond)
		}
		s.serve(w, r, body)
	})
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	for i := range 20 {
		send(t, conn, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i))
	}
	for i := 0; i < 20; {
		r := f.heard(t)
		if r.method() != "notifications/progress" {
			continue
		}
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i); r.Body != want {
			t.Fatalf("got %s, want %s", r.Body, want)
		}
		i++
	}
}

func TestAForgottenSessionIsMadeAnewAndTheRequestRunsOnce(t *testing.T) {
	s := newSessions()
	f := serve(t, s.serve)
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	for i, request := range []string{
		legacy("2", "logging/setLevel", `{"level":"debug"}`),
		legacy("3", "resources/subscribe", `{"uri":"a:b"}`),
		legacy("4", "resources/subscribe", `{"uri":"c:d"}`),
		legacy("5", "resources/unsubscribe", `{"uri":"c:d"}`),
	} {
		send(t, conn, request)
		h.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i+2))
	}
	<-s.streams
	for range 7 {
		f.heard(t)
	}
	s.forget()
	s.calls.Store(0)
	for _, id := range []string{"10", "11", "12"} { // all of them find it gone, one makes it anew
		send(t, conn, legacy(id, "tools/call", `{"name":"a"}`))
	}
	got := map[string]int{}
	for range 5 {
		got[h.next()]++
	}
	for _, want := range []string{`{"jsonrpc":"2.0","id":10,"result":{}}`, `{"jsonrpc":"2.0","id":11,"result":{}}`, `{"jsonrpc":"2.0","id":12,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}`} {
		if got[want] != 1 {
			t.Errorf("%s came %d times", want, got[want])
		}
	}
	if n := s.n; n != 2 {
		t.Errorf("there have been %d sessions", n)
	}
	if n := s.calls.Load(); n != 3+2 { // the calls, the level and the subscription
		t.Errorf("the server has carried out %d requests", n)
	}
	(<-s.streams)(data(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`))
	h.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
}

// A server that is so busy that it reads neither of two messages during the head start may read the
// second one first: so each of several tries has many of them.
func TestALegacyCancellationFollowsItsRequest(t *testing.T) {
	s := newSessions()
	f := serve(t, s.serve)
	stop := make(chan struct{})
	defer close(stop)
	s.other = func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	<-s.streams
	for range 3 {
		f.heard(t)
	}
	const calls, tries = 8, 10
	early := 0
	for try := range tries {
		for i := range calls {
			id := 2 + try*calls + i
			send(t, conn, legacy(fmt.Sprint(id), "tools/call", `{"name":"a"}`))
			send(t, conn, fmt.Sprintf(cancelFrame, id))
		}
		early = 0
		called := map[string]bool{}
		for range 2 * calls {
			r := f.heard(t)
			switch r.method() {
			case "tools/call":
				called[idOf(r.Body)] = true
			case "notifications/cancelled":
				var id int
				if _, err := fmt.Sscanf(r.Body, cancelFrame, &id); err != nil {
					t.Fatalf("%v: %s", err, r.Body)
				}
				if !called[fmt.Sprint(id)] {
					early++
				}
			default:
				t.Fatalf("the server got %s %s", r.Method, r.Body)
			}
		}
		if early == 0 {
			break
		}
	}
	if early > 0 {
		t.Errorf("%d of %d cancellations came before their requests, and some each time", early, calls)
	}
	h.none()
}

func TestALostStreamIsOpenedAgain(t *testing.T) {
	opened := make(chan string, 10)
	var n atomic.Int32
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case methodIs(body, "initialize"):
			asJSON(w, 200, result(body, welcome))
		case r.Method == http.MethodGet:
			opened <- r.Header.Get("Last-Event-ID")
			write := stream(w)
			if n.Add(1) < 3 {
				write("retry: 1\nid: e" + r.Header.Get("Last-Event-ID") + "\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
				return
			}
			<-r.Context().Done()
		default:
			w.WriteHeader(202)
		}
	})
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	h.want(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	h.want(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	for _, want := range []string{"", "e", "ee"} {
		if got := <-opened; got != want {
			t.Errorf("resumed behind %q, want %q", got, want)
		}
	}
	h.none() // the server has told of all that there was
}

func TestWhatALostStreamMayHaveHadIsToldWhereItCannotBeResumed(t *testing.T) {
	subscribed := make(chan struct{})
	var opened atomic.Int32
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case methodIs(body, "initialize"):
			asJSON(w, 200, result(body, welcome))
		case r.Method == http.MethodGet:
			n := opened.Add(1)
			if n > 1 {
				<-subscribed
			}
			if stream(w)("retry: 1\n\n"); n == 3 {
				<-r.Context().Done()
			}
		case idOf(body) == "null":
			w.WriteHeader(202)
		default:
			asJSON(w, 200, result(body, "{}"))
		}
	})
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	send(t, conn, legacy("2", "resources/subscribe", `{"uri":"a:\"b"}`))
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	close(subscribed)
	for range 2 {
		h.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		h.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:\"b"}}`)
	}
	h.none()
}

func TestAnAnswerIsFetchedWhereItsStreamBrokeOff(t *testing.T) {
	var ran atomic.Int32
	s := newSessions()
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch from := r.Header.Get("Last-Event-ID"); {
		case methodIs(body, "tools/call"):
			ran.Add(1)
			stream(w)("id: 1\nretry: 1\ndata: \n\n") // primed, and closed
		case from == "1":
			stream(w)("id: 2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
		case from == "2":
			stream(w)(data(result(`{"jsonrpc":"2.0","id":2,"method":"x"}`, "{}")))
		default:
			s.serve(w, r, body)
		}
	})
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	send(t, conn, legacy("2", "tools/call", `{"name":"a"}`))
	h.want(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	if n := ran.Load(); n != 1 {
		t.Errorf("the call ran %d times", n)
	}
}

func TestABrokenSubscriptionIsOpenedAgainAndWhatItMissedIsTold(t *testing.T) {
	var opened atomic.Int32
	ack := data(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"},"notifications":{"toolsListChanged":true}}}`)
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch opened.Add(1) {
		case 1:
			stream(w)(ack)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			stream(w)(ack)
			<-r.Context().Done()
		}
	})
	conn, h := dial(t, Options{URL: f.URL})
	send(t, conn, modern(`"s"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["a:b"]}`))
	h.want(ack[len("event: message\ndata: ") : len(ack)-2])
	const meta = `"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`
	h.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + meta)
	h.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + strings.TrimSuffix(meta, "}}") + `,"uri":"a:b"}}`)
	h.none()
	if n := opened.Load(); n != 3 {
		t.Errorf("it was opened %d times", n)
	}
}

func TestWhatChangesTheSessionIsDoneBeforeWhatFollows(t *testing.T) {
	s := newSessions()
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodIs(body, "logging/setLevel") {
			time.Sleep(50 * time.Millisecond)
		}
		s.serve(w, r, body)
	})
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	limit := time.Now().Add(settleTime)
	send(t, conn, legacy("2", "logging/setLevel", `{"level":"debug"}`))
	send(t, conn, legacy("3", "tools/call", `{"name":"a"}`))
	first := h.next()
	late := time.Now().After(limit)
	const two, three = `{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":3,"result":{}}`
	if got := first + h.next(); got != two+three && (got != three+two || !late) {
		t.Errorf("got %s", got)
	}
}

// A server that asks on the session's stream loses the question while there is none.
func TestTheStreamIsOpenBeforeTheFirstRequest(t *testing.T) {
	s := newSessions()
	var open atomic.Bool
	var limit atomic.Pointer[time.Time]
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case methodIs(body, "notifications/initialized"):
			at := time.Now().Add(openTime)
			limit.Store(&at)
		case r.Method == http.MethodGet:
			time.Sleep(100 * time.Millisecond)
			open.Store(true)
		case methodIs(body, "tools/call") && !open.Load() && time.Now().Before(*limit.Load()):
			t.Error("a call comes while there is no stream")
		}
		s.serve(w, r, body)
	})
	conn, h := dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	send(t, conn, legacy("2", "tools/call", `{"name":"a"}`))
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
}
