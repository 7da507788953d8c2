package httpd

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"toolman/fixtures/fakemcp"
	"toolman/mcpwire/httpheader"
	"toolman/router"
	"toolman/router/budget"
	"toolman/router/httpd/presence"
)

// A request may have been let in just before a reload, and begin its session after Recheck has looked at
// the sessions.
func TestASessionThatBeginsTooLateDoesNotBegin(t *testing.T) {
	var in atomic.Bool
	f := newFront(t, echoing(fakemcp.Legacy, nil), Options{Options: presence.Options{
		Caller: func(r *http.Request) (presence.Caller, error) {
			return presence.Caller{Client: router.Client{Principal: budget.Principal{Subject: r.Header.Get("X-Who")}}}, nil
		},
		Lasts: func(*presence.Caller) bool { return in.Load() },
	}})
	initialize := request{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`}
	r := f.do(initialize)
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), `"id":1`) || r.Header.Get(httpheader.Session) != "" {
		t.Errorf("answered %s with session %q: %s, %v", r.Status, r.Header.Get(httpheader.Session), text, err)
	}
	if n := f.e.Sessions(); n != 0 {
		t.Errorf("there are %d sessions", n)
	}
	in.Store(true)
	c := f.initialize("2025-11-25", "{}")
	f.e.Recheck()
	ping := request{body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}
	c.ask(ping).wants(200, httpheader.JSON, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	in.Store(false)
	f.e.Recheck()
	if r := c.ask(ping); r.StatusCode != http.StatusNotFound {
		t.Errorf("the session that was ended answers %s", r.Status)
	}
}
