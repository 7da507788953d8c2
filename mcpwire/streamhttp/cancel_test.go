package streamhttp

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const cancelFrame = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`

// hanging is a legacy session in which requests get no answer, and cancellations none before
// release. The handshake is over.
func hanging(t *testing.T) (f *fake, conn *Conn, h *catcher, release func()) {
	t.Helper()
	s := newSessions()
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	f = serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case methodIs(body, "tools/call"), methodIs(body, "logging/setLevel"):
			<-r.Context().Done()
		case methodIs(body, "notifications/cancelled"):
			<-released
			s.serve(w, r, body)
		default:
			s.serve(w, r, body)
		}
	})
	t.Cleanup(release)
	conn, h = dial(t, Options{URL: f.URL})
	begin(t, conn, h)
	<-s.streams
	for range 3 { // initialize, notifications/initialized, and GET
		f.heard(t)
	}
	return f, conn, h, release
}

// hears waits for so many messages of a method, and fails if another or the same one comes.
func (f *fake) hears(t *testing.T, method string, n int) {
	t.Helper()
	seen := map[string]bool{}
	for range n {
		r := f.heard(t)
		if r.method() != method || seen[r.Body] {
			t.Fatalf("the server got %s %s; want another %s", r.Method, r.Body, method)
		}
		seen[r.Body] = true
	}
}

func TestCancellationsWaitForNoOther(t *testing.T) {
	f, conn, h, release := hanging(t)
	const calls = 20
	for id := range calls {
		send(t, conn, legacy(fmt.Sprint(id+2), "tools/call", `{"name":"a"}`))
	}
	f.hears(t, "tools/call", calls)
	for id := range calls {
		send(t, conn, fmt.Sprintf(cancelFrame, id+2))
	}
	f.hears(t, "notifications/cancelled", calls) // while the server has answered none of them

	limit := time.Now().Add(closeTime)
	conn.CloseWrite()
	if f.silentUntil(t, limit) { // the session does not end before the server has taken them
		release()
		if r := f.heard(t); r.Method != http.MethodDelete {
			t.Errorf("at the end the server got %s %s", r.Method, r.Body)
		}
	}
	<-h.closed
}

// What a session has changed by a request holds up those that follow, and not what takes one back.
func TestACancellationDoesNotWaitForAChangeOfTheSession(t *testing.T) {
	f, conn, _, _ := hanging(t)
	send(t, conn, legacy("2", "tools/call", `{"name":"a"}`))
	f.hears(t, "tools/call", 1)
	limit := time.Now().Add(settleTime)
	send(t, conn, legacy("3", "logging/setLevel", `{"level":"debug"}`))
	f.hears(t, "logging/setLevel", 1)
	send(t, conn, fmt.Sprintf(cancelFrame, 2))
	send(t, conn, legacy("4", "tools/call", `{"name":"b"}`))
	for {
		r := f.heard(t)
		if r.method() == "notifications/cancelled" {
			break
		}
		if time.Now().Before(limit) {
			t.Fatalf("the server got %s %s", r.Method, r.Body)
		}
	}
	f.silentUntil(t, limit)
}

// What takes back no open request waits its turn: there may be thousands.
func TestACancellationOfNothingKeepsItsPlaceAmongNotifications(t *testing.T) {
	f, conn, _, release := hanging(t)
	for id := range 3 {
		send(t, conn, fmt.Sprintf(cancelFrame, id+7))
	}
	f.hears(t, "notifications/cancelled", 1)
	f.silent(t)
	release()
	f.hears(t, "notifications/cancelled", 2)
}

func TestACancellationGivesItsRequestAHeadStart(t *testing.T) {
	for _, c := range []struct {
		name  string
		since time.Duration // the request was written
		begun bool          // the server has reacted to it
		want  time.Duration
	}{
		{"of a request that was just written", 0, false, headStart},
		{"of one that was written a moment ago", headStart / 4, false, headStart * 3 / 4},
		{"of one that was written long ago", time.Hour, false, 0},
		{"of one that the server reacts to", 0, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, err := Dial(Options{URL: "http://127.0.0.1:1"})
				if err != nil {
					t.Fatal(err)
				}
				request := &post{written: make(chan struct{}), begun: make(chan struct{})}
				conn.mark(request, false)
				time.Sleep(c.since)
				if c.begun {
					conn.mark(request, true)
				}
				cancellation := &post{ctx: t.Context(), cancelled: request, reacted: request.begun}
				start := time.Now()
				if !cancellation.ready() {
					t.Error("it is not sent")
				}
				if waited := time.Since(start); waited != c.want {
					t.Errorf("it waits %s, want %s", waited, c.want)
				}
			})
		})
	}
}
