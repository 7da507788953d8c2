package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/client"
	"toolman/router/dial"
	"toolman/router/metatool"
	"toolman/router/view"
)

// loginAttempts is a dial.Login that keeps what was begun.
type loginAttempts struct {
	dial.Login
	all []*loginAttempt
}

func (l *loginAttempts) Begin(context.Context) dial.Attempt {
	a := &loginAttempt{n: len(l.all), known: make(chan bool), done: make(chan struct{})}
	l.all = append(l.all, a)
	return a
}

// A loginAttempt has a URL when known is closed.
type loginAttempt struct {
	n       int
	known   chan bool
	done    chan struct{}
	err     error
	stopped bool
}

func (a *loginAttempt) Ask(ctx context.Context) (at, message string) {
	select {
	case <-a.known:
		return fmt.Sprintf("https://as.example/%d", a.n), "log in"
	case <-a.done:
	case <-ctx.Done():
	}
	return "", ""
}

func (a *loginAttempt) Done() <-chan struct{}    { return a.done }
func (a *loginAttempt) Outcome() (string, error) { return "logged in", a.err }
func (a *loginAttempt) Stop()                    { a.stopped = true }

func (a *loginAttempt) ends(err error) {
	a.err = err
	close(a.done)
	synctest.Wait()
}

// loggingIn calls f with a rig that has toolman_login, and a server whose URL is known at once.
func loggingIn(t *testing.T, f func(t *testing.T, g *rig, logins *loginAttempts)) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{active: []string{"*"}, capabilities: able, Options: Options{MetaTools: view.MetaTools{Login: true}}}, offer{namespace: "ns", tools: []string{"echo"}})
		logins := &loginAttempts{}
		g.r.all()[0].Login = logins
		f(t, g, logins)
	})
}

// callLogin calls toolman_login, of the modern era if more is not nil, and returns what the client
// hears at once.
func (g *rig) callLogin(id string, more *string) []string {
	const params = `"name":"toolman_login","arguments":{"server":"ns"}`
	if more != nil {
		g.client.says(capableCall(id, "tools/call", params, able, *more))
	} else {
		g.client.says(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + params + `}}`)
	}
	synctest.Wait()
	return g.client.hears()
}

// urlIn returns the URL that an answer has for the user, and the ID or state of the elicitation.
func urlIn(t *testing.T, heard []string) (at, id string) {
	t.Helper()
	type params struct{ URL, ElicitationID string }
	var got struct {
		Error struct {
			Code int
			Data struct{ Elicitations []params }
		}
		Result struct {
			RequestState  string
			InputRequests map[string]struct{ Params params }
		}
	}
	if len(heard) != 1 || json.Unmarshal([]byte(heard[0]), &got) != nil {
		t.Fatalf("heard %q, want one answer with a URL", heard)
	}
	if all := got.Error.Data.Elicitations; got.Error.Code == -32042 && len(all) == 1 {
		return all[0].URL, all[0].ElicitationID
	}
	return got.Result.InputRequests["login"].Params.URL, got.Result.RequestState
}

// heardWith checks that the client hears one frame with these words.
func heardWith(t *testing.T, heard []string, words string) {
	t.Helper()
	if len(heard) != 1 || !strings.Contains(heard[0], words) {
		t.Errorf("heard %q, want %s", heard, words)
	}
}

func TestACallWaitsForALoginWhoseURLTheClientHas(t *testing.T) {
	for _, modern := range []bool{false, true} {
		loggingIn(t, func(t *testing.T, g *rig, logins *loginAttempts) {
			var first, again *string
			if modern {
				first, again = new(string), new(string)
			}
			if heard := append(g.callLogin("1", first), g.callLogin("2", first)...); len(heard) > 0 || len(logins.all) != 1 {
				t.Fatalf("heard %q before the URL is known, and %d logins have begun", heard, len(logins.all))
			}
			close(logins.all[0].known)
			synctest.Wait()
			heard := g.client.hears()
			if len(heard) != 2 {
				t.Fatalf("heard %q, want two answers", heard)
			}
			at, id := urlIn(t, heard[:1])
			if at != "https://as.example/0" || id == "" {
				t.Errorf("got %s, %s", at, id)
			}
			if modern {
				*again = retryMembers(`"`+id+`"`, `{"login":{"action":"accept"}}`)
			}
			if heard := g.callLogin("3", again); len(heard) > 0 {
				t.Errorf("heard %q, want it to wait", heard)
			}
			g.client.says(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
			heardWith(t, g.client.hears(), `"id":4,"result"`)
			time.Sleep(21 * time.Second)
			synctest.Wait()
			if same, sameID := urlIn(t, g.client.hears()); same != at || sameID != id {
				t.Errorf("got %s, %s, want %s, %s again", same, sameID, at, id)
			}
			g.callLogin("5", again)
			logins.all[0].ends(nil)
			heard = g.client.hears()
			complete := `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"` + id + `"}}`
			if n := len(slices.DeleteFunc(slices.Clone(heard), func(frame string) bool { return frame != complete })); n != 1 && !modern || n > 0 && modern {
				t.Errorf("heard %q, and the notification %d times", heard, n)
			}
			heardWith(t, slices.DeleteFunc(heard, func(frame string) bool { return frame == complete }), `\"result\":\"logged in\"`)
			if n := g.s.Pending(); n != 0 || len(logins.all) != 1 {
				t.Errorf("%d calls are open, and %d logins have begun", n, len(logins.all))
			}
			g.callLogin("6", first) // the login may be gone again
			if len(logins.all) != 2 {
				t.Errorf("%d logins have begun, want another one", len(logins.all))
			}
			logins.all[1].ends(nil)
		})
	}
}

func TestTheFailureOfALoginIsReportedOnce(t *testing.T) {
	loggingIn(t, func(t *testing.T, g *rig, logins *loginAttempts) {
		g.callLogin("1", nil)
		close(logins.all[0].known)
		synctest.Wait()
		logins.all[0].ends(errors.New("nobody was there"))
		g.client.hears()
		heardWith(t, g.callLogin("2", nil), `"structuredContent":{"success":false,"result":null,"error":"nobody was there"},"isError":true`)
		g.callLogin("3", nil)
		if len(logins.all) != 2 {
			t.Errorf("%d logins have begun, want another one", len(logins.all))
		}
		logins.all[1].ends(errors.New("no such server"))
		heardWith(t, g.client.hears(), "no such server")
	})
}

func TestALoginThatAPersonDeclines(t *testing.T) {
	for _, action := range []string{"decline", "cancel"} {
		loggingIn(t, func(t *testing.T, g *rig, logins *loginAttempts) {
			var first string
			g.callLogin("1", &first)
			a := logins.all[0]
			close(a.known)
			synctest.Wait()
			_, state := urlIn(t, g.client.hears())
			other, own := retryMembers(`"x"`, `{"login":{"action":"`+action+`"}}`), retryMembers(`"`+state+`"`, `{"login":{"action":"`+action+`"}}`)
			heardWith(t, g.callLogin("2", &other), "does not want to log in")
			if a.stopped {
				t.Error("the answer for another login ends this one")
			}
			heardWith(t, g.callLogin("3", &own), "does not want to log in")
			if !a.stopped {
				t.Error("the login goes on")
			}
			g.callLogin("4", &first)
			if len(logins.all) != 2 {
				t.Errorf("%d logins have begun, want another one", len(logins.all))
			}
			a.ends(nil)
			logins.all[1].ends(nil)
		})
	}
}

func TestACancelledCallOfALogin(t *testing.T) {
	loggingIn(t, func(t *testing.T, g *rig, logins *loginAttempts) {
		g.callLogin("1", nil)
		if n := g.s.Pending(); n != 1 {
			t.Errorf("%d calls are open, want 1", n)
		}
		g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if n := g.s.Pending(); n != 0 {
			t.Errorf("%d calls are open after the cancellation", n)
		}
		logins.all[0].ends(nil)
		g.client.wants()
	})
}

func TestAnOpenCallOfALoginIsAnsweredAtTheEnd(t *testing.T) {
	loggingIn(t, func(t *testing.T, g *rig, logins *loginAttempts) {
		g.callLogin("1", nil)
		g.s.Abandon()
		heardWith(t, g.client.hears(), "toolman is ending")
		logins.all[0].ends(nil)
		g.client.wants()
	})
}

func TestTooManyCallsOfALogin(t *testing.T) {
	loggingIn(t, func(t *testing.T, g *rig, logins *loginAttempts) {
		for i := range 64 {
			if heard := g.callLogin(fmt.Sprint(i), nil); len(heard) > 0 {
				t.Fatalf("call %d: heard %q", i, heard)
			}
		}
		heardWith(t, g.callLogin("64", nil), "too many such requests are open")
		logins.all[0].ends(nil)
		if heard := g.client.hears(); len(heard) != 64 {
			t.Errorf("%d calls are answered", len(heard))
		}
	})
}

// Another client than the only one has no browser on this machine.
func TestOnlyTheOnlyClientLogsIn(t *testing.T) {
	loggingIn(t, func(t *testing.T, g *rig, logins *loginAttempts) {
		shared := &link{t: t}
		g.joins(shared, shared, client.Info{})
		shared.initialize(able)
		shared.hears()
		shared.says(callFrame("1", metatool.LoginTool, `{"server":"ns"}`))
		if heard := shared.hears(); len(heard) != 1 || !strings.Contains(heard[0], "unknown tool toolman_login") || strings.Contains(heard[0], "similar") || len(logins.all) > 0 {
			t.Errorf("heard %q", heard)
		}
	})
}
