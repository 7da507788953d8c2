package cluster

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolman/fixtures/valkey"
	"toolman/router/budget"
)

const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`

func TestRequestsOfACallerGoToOneReplica(t *testing.T) {
	server := valkey.Start(t)
	a, b, c := start(t, server), start(t, server), start(t, server)
	_, owner := a.post("who", call)
	a.hold("who")
	for _, edge := range []*replica{b, c, a, c} {
		if _, got := edge.post("who", call); got != owner {
			t.Errorf("%s has served what is %s's", got, owner)
		}
	}
}

func TestASessionIDDoesNotBringRequestsOfTheModernEraToItsReplica(t *testing.T) {
	server := valkey.Start(t)
	a, b := start(t, server), start(t, server)
	_, owner := a.post("who", call)
	a.hold("who")
	id := b.NewID(b.caller("who"))
	b.own(id)
	req := httptest.NewRequest(http.MethodPost, b.edge.URL+"/mcp", strings.NewReader(call))
	req.RequestURI = ""
	req.Header.Set("X-Who", "who")
	req.Header.Set("Mcp-Session-Id", id)
	req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	if _, got := b.send(req); got != owner {
		t.Errorf("%s has served it, the owner is %s", got, owner)
	}
}

func TestTheEndOfACredentialIsTold(t *testing.T) {
	server := valkey.Start(t)
	a, b := start(t, server), start(t, server)
	a.serve = func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	if _, err := a.claim(t.Context(), a.keys.Load().UnitOf("", a.caller("who")), "", false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("the token has expired"))
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(call))
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	w := httptest.NewRecorder()
	if !b.Route(b.front())(w, r, b.caller("who")) || w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "the token has expired") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := b.Status().Broken; n != 0 {
		t.Errorf("%d owners count as dead", n)
	}
}

// A client may disconnect before this replica knows who owns the client.
func TestAClientThatIsGoneDecidesNothing(t *testing.T) {
	server := valkey.Start(t)
	a, b := start(t, server), start(t, server)
	a.hold("who")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(call))
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	if w := httptest.NewRecorder(); !b.Route(b.front())(w, r, b.caller("who")) || w.Code != statusClientGone {
		t.Errorf("it is answered %d %s", w.Code, w.Body)
	}
	if _, got := b.post("who", call); got != a.o.Replica {
		t.Errorf("%q serves the client then, the owner is %s", got, a.o.Replica)
	}
}

// A brokenBody fails after a few bytes, once.
type brokenBody struct{ reads int }

func (b *brokenBody) Read(p []byte) (int, error) {
	if b.reads++; b.reads == 2 {
		return 0, errors.New("broken")
	} else if b.reads > 2 {
		return 0, io.EOF
	}
	return copy(p, `{"jsonrpc":"2.0"}`), nil
}

func TestABodyThatCannotBeReadIsRefused(t *testing.T) {
	server := valkey.Start(t)
	free := func(o *Options) { o.Free = func() (bool, bool) { return true, true } }
	a := start(t, server, free)
	who := a.caller("who")
	who.Client.Static = "mode"
	r := httptest.NewRequest(http.MethodPost, "/mcp", &brokenBody{})
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	w := httptest.NewRecorder()
	if !a.Route(a.front())(w, r, who) || w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestABodyCountsWhileItIsForwarded(t *testing.T) {
	server := valkey.Start(t)
	a, b := start(t, server), start(t, server)
	arrived, goOn := make(chan bool), make(chan bool)
	a.serve = func(http.ResponseWriter, *http.Request) { arrived <- true; <-goOn }
	if _, err := a.claim(t.Context(), a.keys.Load().UnitOf("", a.caller("who")), "", false); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() { defer close(done); b.post("who", strings.Repeat(" ", 5000)+call) }()
	<-arrived
	who := b.caller("who")
	defer who.Client.Account.Close()
	if n := who.Client.Account.Used(budget.Bytes); n < 5000 {
		t.Errorf("%d bytes count", n)
	}
	close(goOn)
	<-done
	if n := who.Client.Account.Used(budget.Bytes); n != 0 {
		t.Errorf("%d bytes count after the request", n)
	}
}

// A process that is killed closes its connections one by one, and its port last.
func TestWhatMayRunTwiceIsRepeatedWhileAReplicaDies(t *testing.T) {
	server := valkey.Start(t)
	owner, edge := start(t, server), start(t, server)
	owner.hold("who")
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for body, want := range map[string]int64{list: 4, call: 1} {
		for attempt := 1; ; attempt++ { // on a busy machine it may not come four times while the replica dies
			var tries atomic.Int64
			owner.serve = func(w http.ResponseWriter, r *http.Request) {
				if tries.Add(1) < 4 {
					panic(http.ErrAbortHandler)
				}
				io.WriteString(w, "done")
			}
			status, text := edge.post("who", body)
			got := tries.Load()
			if got == want && status == http.StatusOK && (text == "done") == (body == list) {
				break
			}
			if body != list || attempt == 5 {
				t.Fatalf("%s has come %d times, and is answered %d %s", body, got, status, text)
			}
		}
	}
}

// Clients of a GET stream have to open it again, and take what is OK for the stream.
func TestAStreamThatIsBrokenOffBeforeItBeginsIsNotOK(t *testing.T) {
	server := valkey.Start(t)
	owner, edge := start(t, server), start(t, server)
	owner.hold("who")
	owner.serve = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	req, err := http.NewRequest(http.MethodGet, edge.edge.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Who", "who")
	req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	if status, text := edge.send(req); status != http.StatusServiceUnavailable {
		t.Errorf("the stream is answered %d %s", status, text)
	}
}
