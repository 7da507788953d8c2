package httpd

import (
	"net/http/httptest"
	"testing"
	"time"

	"toolman/mcpwire/httpheader"
	"toolman/router/budget"
	"toolman/router/httpd/presence"
)

// stuck is a stream in which n bytes wait that nobody reads.
func stuck(t *testing.T, e *Endpoint, account *budget.Account, n int) *stream {
	t.Helper()
	s := e.newStream(0, account)
	for ; n > 0; n -= 1 << 20 {
		if err := s.put(make([]byte, min(n, 1<<20))); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestWhereMuchWaitsForAClientEachOfItsStreamsMayKeepLess(t *testing.T) {
	e := New(nil, Options{})
	budgets := budget.New(budget.Limits{budget.Bytes: 8 * streamLimit}, budget.Limits{})
	account, other := budgets.Open(budget.Principal{Issuer: "a"}), budgets.Open(budget.Principal{Issuer: "b"})
	var all []*stream
	for range 4 {
		all = append(all, stuck(t, e, account, streamLimit-1))
	}
	all = append(all, stuck(t, e, account, 1<<20))
	hog := all[0]
	if err := hog.put([]byte("x")); err == nil {
		t.Error("one with much waiting gets more")
	}
	modest := e.newStream(0, account)
	for range 3 {
		if err := modest.put(make([]byte, fairLimit/3)); err != nil {
			t.Errorf("one with little waiting: %v", err)
		}
	}
	if err := modest.put(make([]byte, fairLimit)); err == nil {
		t.Error("one with its fair share waiting gets more")
	}
	if err := e.newStream(1, account).answer(make([]byte, 1<<20), 1, 200); err != nil {
		t.Errorf("a large answer by itself: %v", err)
	}
	if theirs := stuck(t, e, other, streamLimit-1); theirs.put([]byte("x")) != nil {
		t.Error("another client's stream has less, too")
	}
	for _, s := range all {
		s.abandon()
	}
	if again := stuck(t, e, account, streamLimit-1); again.put([]byte("x")) != nil {
		t.Error("when those are gone, more may wait again")
	}
}

func TestWhatIsBeingWrittenStillWaits(t *testing.T) {
	e := New(nil, Options{})
	account := budget.New(budget.Limits{}, budget.Limits{}).Open(budget.Principal{})
	s := stuck(t, e, account, streamLimit/2)
	p := s.take()
	if err := s.put(make([]byte, streamLimit/2+1)); err == nil {
		t.Error("more than the limit waits, with what is being written")
	}
	s.written(p)
	if got := account.Used(budget.Bytes); got != 0 {
		t.Errorf("%d bytes are left", got)
	}
}

// A client may take its request back just when something was told during it.
func TestWhatIsToldDuringARequestThatIsTakenBackIsNoAnswer(t *testing.T) {
	s := New(nil, Options{}).newStream(1, nil)
	if err := s.put([]byte(`{"jsonrpc":"2.0","method":"notifications/progress"}`)); err != nil {
		t.Fatal(err)
	}
	s.expectOneLess()
	w := httptest.NewRecorder()
	x := exchange{Endpoint: New(nil, Options{}), w: w, r: httptest.NewRequest("POST", "/mcp", nil)}
	x.respond(&session{Session: &presence.Session[*session, *call]{}}, s, false).serve(func(complete bool) {
		if !complete {
			t.Error("the response is not complete")
		}
	})
	const want = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"
	if w.Code != 200 || w.Header().Get("Content-Type") != httpheader.EventStream || w.Body.String() != want {
		t.Errorf("the response is %d %s %q", w.Code, w.Header().Get("Content-Type"), w.Body)
	}
}

func TestWhatAnEndedSessionHasNotHeardWaitsNoMore(t *testing.T) {
	f := newFront(t, talker(1), Options{KeepAlive: time.Hour})
	c, err := f.e.sessions.Admit(httptest.NewRequest("GET", "/mcp", nil))
	if err != nil {
		t.Fatal(err)
	}
	account := c.Client.Account
	for _, listens := range []bool{false, true} {
		c := f.initialize("2025-11-25", "{}")
		c.ask(request{body: legacyCall(`1`, "fs_talk", "{}", "")}).text()
		await(t, "something waits for it", func() bool { return account.Used(budget.Bytes) > 0 })
		if listens {
			c.listens()
		}
		c.ask(request{method: "DELETE"}).wants(204, "", "")
		await(t, "nothing does", func() bool { return account.Used(budget.Bytes) == 0 })
	}
}
