package presence

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/router"
	"toolman/router/budget"
	"toolman/router/client"
)

// A front is the smallest user of a Registry. Its sessions write down how they end.
type front struct {
	t        *testing.T
	r        *router.Router
	sessions *Registry[*session, *call]
	ended    []string // the reason and the open requests of each session that has ended
}

type session struct{ *Session[*session, *call] }

type call struct{ id string }

// Queue implements peer.Sender.
func (s *session) Queue([]byte, []jsonrpc.Edit) error { return nil }

// Flush implements peer.Sender.
func (s *session) Flush() {}

func newFront(t *testing.T, o Options) *front {
	f := &front{t: t, r: router.New(router.Options{}, nil, zap.NewNop())}
	f.r.Start(nil)
	t.Cleanup(f.r.Close)
	f.sessions = NewRegistry(Front[*session, *call]{
		Options: o,
		New: func(p *Session[*session, *call], _ any) *session {
			s := &session{p}
			s.Router = f.r.NewSession(s, s.Caller.Client)
			return s
		},
		Ended: func(_ *session, open []*call, why error) {
			text := "no reason"
			if why != nil {
				text = why.Error()
			}
			for _, c := range open {
				text += " " + c.id
			}
			f.ended = append(f.ended, text)
		},
	})
	t.Cleanup(f.sessions.Close)
	return f
}

// caller returns a caller with an open account.
func (f *front) caller(name string) *Caller {
	c := Caller{Client: client.Info{Principal: budget.Principal{Issuer: "test", Subject: name}}}
	c.Client.Account = f.sessions.front.Budgets.Open(c.Client.Principal)
	f.t.Cleanup(c.Client.Account.Close)
	return &c
}

// begin returns a new session, which is in use.
func (f *front) begin(key string, who *Caller) *session {
	f.t.Helper()
	s, err := f.sessions.AcquireOrNew(context.Background(), key, who)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// open opens a request of a session.
func (s *session) open(t *testing.T, id string) *call {
	t.Helper()
	c, err := s.Open(id, nil, func(id string) *call { return &call{id} })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestASessionBelongsToOneCaller(t *testing.T) {
	f := newFront(t, Options{})
	a, b := f.caller("a"), f.caller("b")
	s := f.begin("k", a)
	if got := f.sessions.Acquire("k", a); got != s {
		t.Error("the caller does not get its session")
	}
	if f.sessions.Acquire("k", b) != nil || f.sessions.Acquire("l", a) != nil {
		t.Error("another caller or key gets the session")
	}
	other := *a
	other.View = "other"
	if f.sessions.Acquire("k", &other) != nil {
		t.Error("another view gets the session")
	}
	if n := f.sessions.Len(); n != 1 || len(f.sessions.All()) != 1 {
		t.Errorf("there are %d sessions", n)
	}
}

func TestOpenRequestsHaveDifferentIDs(t *testing.T) {
	f := newFront(t, Options{})
	s := f.begin("k", f.caller("a"))
	first, second, third := s.open(t, "7"), s.open(t, "7"), s.open(t, `"x"`)
	if first.id != "7" || second.id != `"1-7"` || third.id != `"x"` {
		t.Errorf("got IDs %s, %s and %s", first.id, second.id, third.id)
	}
	if s.Find([]byte("7")) != first || s.Find([]byte(`"1-7"`)) != second || s.Find([]byte("8")) != nil {
		t.Error("Find does not find the open requests")
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests are open", n)
	}
	if s.Close([]byte("7")) != first || s.Close([]byte("7")) != nil {
		t.Error("Close does not close a request once")
	}
	again := s.open(t, "7")
	if again.id != "7" {
		t.Errorf("the free ID becomes %s", again.id)
	}
	s.Cancel("7", first) // which is closed
	if s.Find([]byte("7")) != again {
		t.Error("the end of a request has cancelled another that got its ID")
	}
	s.Cancel("7", again)
	s.Cancel("nothing", again)
	if s.Find([]byte("7")) != nil || len(s.Requests()) != 2 {
		t.Error("the cancelled request is open")
	}
	if again := s.open(t, "7"); again.id != "7" {
		t.Errorf("the ID of the cancelled request becomes %s", again.id)
	}
}

func TestASessionEndsOnce(t *testing.T) {
	budgets := budget.New(budget.Limits{}, budget.Limits{})
	f := newFront(t, Options{Budgets: budgets})
	who := f.caller("a")
	s := f.begin("k", who)
	s.open(t, "1")
	s.End(errors.New("enough"))
	s.End(nil)
	f.sessions.Close()
	s.Release()
	if len(f.ended) != 1 || f.ended[0] != "enough 1" {
		t.Errorf("got %q", f.ended)
	}
	if _, err := s.Open("2", nil, nil); err != ErrEnded {
		t.Errorf("a request of the ended session: %v", err)
	}
	if !s.Ended() || s.Acquire() || f.sessions.Len() != 0 {
		t.Error("the session is still there")
	}
	if a := who.Client.Account; a.Used(budget.Calls) != 0 || a.Used(budget.Sessions) != 0 {
		t.Errorf("%d calls and %d sessions are counted", a.Used(budget.Calls), a.Used(budget.Sessions))
	}
	if _, err := f.sessions.AcquireOrNew(context.Background(), "k", who); err != ErrFull {
		t.Errorf("a session after Close: %v", err)
	}
}

func TestASessionEndsWhenItIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, Options{Idle: time.Minute})
		who := f.caller("a")
		s := f.begin("k", who)
		time.Sleep(time.Hour)
		if s.Ended() {
			t.Fatal("the session ended while it was used")
		}
		s.Release()
		time.Sleep(59 * time.Second)
		if since, busy := s.IdleSince(); busy || time.Since(since) != 59*time.Second {
			t.Errorf("idle since %v ago, busy %t", time.Since(since), busy)
		}
		if f.begin("k", who) != s {
			t.Fatal("the session ended too early")
		}
		s.Release()
		time.Sleep(59 * time.Second)
		if s.Ended() {
			t.Error("use did not prolong the session")
		}
		time.Sleep(62 * time.Second)
		synctest.Wait()
		if !s.Ended() || f.sessions.Len() != 0 || len(f.ended) != 1 {
			t.Errorf("the idle session did not end: %q", f.ended)
		}
	})
}

func TestATemporarySessionEndsWithItsUse(t *testing.T) {
	f := newFront(t, Options{})
	s := f.sessions.Temporary(f.caller("a"))
	if f.sessions.Len() != 0 || s.Ended() {
		t.Error("the session is registered, or has ended")
	}
	s.Release()
	if !s.Ended() {
		t.Error("the session has not ended")
	}
}

func TestIdleSessionsOfTheClientMakeRoom(t *testing.T) {
	f := newFront(t, Options{MaxSessions: 1})
	a, b := f.caller("a"), f.caller("b")
	first := f.begin("1", a)
	if _, err := f.sessions.AcquireOrNew(context.Background(), "2", a); err != ErrFull {
		t.Errorf("beside a session in use: %v", err)
	}
	c := first.open(t, "1")
	first.Release()
	if _, busy := first.IdleSince(); !busy {
		t.Error("a session with an open request is idle")
	}
	if _, err := f.sessions.AcquireOrNew(context.Background(), "2", a); err != ErrFull {
		t.Errorf("beside a session with an open request: %v", err)
	}
	first.Close([]byte(c.id))
	if _, err := f.sessions.AcquireOrNew(context.Background(), "3", b); err != ErrFull {
		t.Errorf("beside an idle session of another client: %v", err)
	}
	second := f.begin("2", a)
	if !first.Ended() || second.Ended() || f.sessions.Len() != 1 {
		t.Error("the idle session has not made room")
	}
}

func TestLimitsOfAClient(t *testing.T) {
	f := newFront(t, Options{Budgets: budget.New(budget.Limits{budget.Sessions: 1, budget.Calls: 1}, budget.Limits{}), MaxBody: 4})
	who := f.caller("a")
	s := f.begin("k", who)
	limited := func(err error, r budget.Resource) {
		t.Helper()
		if e, ok := errors.AsType[*budget.LimitError](err); !ok || e.Resource != r {
			t.Errorf("got %v", err)
		}
	}
	_, err := f.sessions.AcquireOrNew(context.Background(), "l", who)
	limited(err, budget.Sessions)
	body := f.sessions.Body(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader("12345")), who)
	buf := make([]byte, 3)
	if n, err := body.Read(buf); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := s.Open("1", body, func(id string) *call { return &call{id} }); err != nil {
		t.Fatal(err)
	}
	_, err = s.Open("2", nil, nil)
	limited(err, budget.Calls)
	if n := who.Client.Account.Used(budget.Bytes); n != 3 {
		t.Errorf("an open request holds %d bytes", n)
	}
	if _, err := io.ReadAll(body); err == nil {
		t.Error("a body that is too long can be read")
	}
	body.Close()
	s.Close([]byte("1"))
	if n := who.Client.Account.Used(budget.Bytes); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

func TestRevokedRights(t *testing.T) {
	allowed := map[string]bool{"a": true, "b": true}
	f := newFront(t, Options{Lasts: func(c *Caller) bool { return allowed[c.Client.Principal.Subject] }})
	a, b := f.begin("1", f.caller("a")), f.begin("2", f.caller("b"))
	allowed["a"] = false
	f.sessions.Recheck()
	if !a.Ended() || b.Ended() || len(f.ended) != 1 || f.ended[0] != ErrRevoked.Error() {
		t.Errorf("got %q", f.ended)
	}
	if _, err := f.sessions.AcquireOrNew(context.Background(), "3", f.caller("a")); err != ErrRevoked {
		t.Errorf("a new session: %v", err)
	}
	if n := f.sessions.Len(); n != 1 {
		t.Errorf("there are %d sessions", n)
	}
}

func TestWhatIsDroppedIsReportedOncePerSession(t *testing.T) {
	var reported []string
	f := newFront(t, Options{Dropped: func(c *Caller) { reported = append(reported, c.Dropped...) }})
	who := f.caller("a")
	f.begin("1", who)
	who.Dropped = []string{"x"}
	f.begin("2", who)
	f.begin("2", who)
	f.sessions.Temporary(who).Release()
	if strings.Join(reported, " ") != "x x" {
		t.Errorf("reported %q", reported)
	}
}

func TestWithoutCallersAllRequestsAreAlike(t *testing.T) {
	f := newFront(t, Options{})
	r := httptest.NewRequest("POST", "/mcp", nil)
	c, err := f.sessions.Admit(r)
	if err != nil || c.Key() != (Key{}) || c.Client.Account == nil {
		t.Errorf("got %v, %v", c, err)
	}
	c.Client.Account.Close()
	r.SetPathValue("name", "x")
	_, err = f.sessions.Admit(r)
	if d, ok := errors.AsType[*Denial](err); !ok || d.Status != http.StatusNotFound {
		t.Errorf("/mcp/x: %v", err)
	}
}
