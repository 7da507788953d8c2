package httpd

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolman/fixtures/fakemcp"
	"toolman/mcpwire/httpheader"
	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/httpd/presence"
)

// hungUp makes a request whose client goes away before it is answered.
func (f *front) hungUp(q request) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(q.ctx, "POST", f.url, strings.NewReader(q.body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	for key, value := range q.header {
		r.Header.Set(key, value)
	}
	if response, err := http.DefaultClient.Do(r); err == nil {
		response.Body.Close()
		f.t.Error("it was answered")
	}
}

// twice makes a request with a header twice, and returns the status.
func (f *front) twice(q request, name string) int {
	f.t.Helper()
	r, err := http.NewRequest("POST", f.url, strings.NewReader(q.body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Content-Type", "application/json")
	for key, value := range q.header {
		r.Header.Set(key, value)
	}
	r.Header.Add(name, q.header[name])
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestASessionHasAnIDThatCannotBeGuessedAndEnds(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, nil), Options{})
	c, other := f.initialize("2025-11-25", "{}"), f.initialize("2025-11-25", "{}")
	if !regexp.MustCompile(`^[!-~]{26,}$`).MatchString(c.id) || c.id == other.id {
		t.Errorf("ids %q and %q", c.id, other.id)
	}
	stream := c.listens()
	if r := c.ask(request{method: "GET"}); r.StatusCode != 409 {
		t.Errorf("a second GET: %d", r.StatusCode)
	}
	c.ask(request{method: "DELETE"}).wants(204, "", "")
	if got := stream.event(); got != "" {
		t.Errorf("the stream of an ended session brought %s", got)
	}
	ping := request{body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}
	for _, q := range []request{ping, {method: "GET"}, {method: "DELETE"}} {
		if r := c.ask(q); r.StatusCode != 404 {
			t.Errorf("%s after the end: %d", q.method, r.StatusCode)
		}
	}
	other.ask(ping).wants(200, httpheader.JSON, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	if got := f.e.Sessions(); got != 1 {
		t.Errorf("%d sessions are left", got)
	}
}

func TestASessionIsItsCallersAlone(t *testing.T) {
	o := presence.Options{Caller: func(r *http.Request) (presence.Caller, error) {
		return presence.Caller{Client: client.Info{Principal: budget.Principal{Subject: r.Header.Get("X-Who"), Path: r.PathValue("name")}}}, nil
	}}
	f := newFront(t, echoing(fakemcp.Legacy, nil), Options{Options: o})
	c := f.initialize("2025-11-25", "{}")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, q := range []request{{body: ping, header: map[string]string{"X-Who": "thief"}}, {method: "GET", header: map[string]string{"X-Who": "thief"}},
		{method: "DELETE", header: map[string]string{"X-Who": "thief"}}, {body: ping, path: "/other"}} {
		if r := c.ask(q); r.StatusCode != 404 {
			t.Errorf("%s %s of another caller: %d", q.method, q.path, r.StatusCode)
		}
	}
	c.ask(request{body: ping}).wants(200, httpheader.JSON, `{"jsonrpc":"2.0","id":1,"result":{}}`)
}

func TestSessionsAreBoundedAndIdleOnesEnd(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, nil), Options{Options: presence.Options{MaxSessions: 2, Idle: soonIdle}})
	busy := f.initialize("2025-11-25", "{}")
	stream := busy.listens()
	oldest := f.initialize("2025-11-25", "{}")
	idle := f.initialize("2025-11-25", "{}")
	if r := oldest.ask(request{body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}); r.StatusCode != 404 {
		t.Errorf("the oldest idle session makes no room: %d", r.StatusCode)
	}
	another := idle.listens()
	r := f.do(request{body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`})
	if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d, Retry-After %q", r.StatusCode, r.Header.Get("Retry-After"))
	}
	another.Body.Close()
	await(t, "the idle session ends", func() bool { return f.e.Sessions() == 1 })
	if r := idle.ask(request{body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}); r.StatusCode != 404 {
		t.Errorf("the idle session: %d", r.StatusCode)
	}
	busy.ask(request{body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}).wants(200, httpheader.JSON, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	stream.Body.Close()
	await(t, "the other does, too, without its stream", func() bool { return f.e.Sessions() == 0 })
}

func TestAFailedInitializeLeavesNoSession(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, nil), Options{})
	r := f.do(request{body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`})
	if id := r.Header.Get("Mcp-Session-Id"); id != "" || f.e.Sessions() != 0 {
		t.Errorf("the session %q, %d in all", id, f.e.Sessions())
	}
}

func TestAServersQuestionComesDuringTheCallAndIsAnsweredByPOST(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{
		"tools/call asks": {fakemcp.Ask(`7`, "elicitation/create", `{"message":"who","requestedSchema":{"type":"object","properties":{}}}`), fakemcp.Reply(`{"content":[],"heard":{{answer}}}`)},
	}), Options{})
	c := f.initialize("2025-11-25", `{"elicitation":{}}`)
	stream := c.listens()
	r := c.ask(request{body: legacyCall(`"q"`, "fs_asks", "{}", "")})
	question := r.event()
	at := regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(question)
	if at == nil || !strings.Contains(question, `"method":"elicitation/create"`) {
		t.Fatalf("the call's stream brought %q", question)
	}
	c.says(`{"jsonrpc":"2.0","id":` + at[1] + `,"result":{"action":"accept","content":{}}}`)
	if answer := r.event(); !strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":"q"`) || !strings.Contains(answer, `"action":"accept"`) {
		t.Errorf("the answer is %s", answer)
	}
	c.ask(request{method: "DELETE"})
	if got := stream.event(); got != "" {
		t.Errorf("the GET stream brought %s", got)
	}
}

func TestWhatBelongsToNoRequestComesOnTheGETStreamAlsoWhatCameBefore(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{
		"tools/call grow": {fakemcp.Add("tools/list", fakemcp.Tool("more{{count}}", "came later")), fakemcp.Notify("notifications/tools/list_changed", "{}"), fakemcp.Answer()},
	}), Options{})
	c, other := f.initialize("2025-11-25", "{}"), f.initialize("2025-11-25", "{}")
	const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	if r := c.ask(request{body: legacyCall(`1`, "fs_grow", "{}", "")}); r.Header.Get("Content-Type") != httpheader.JSON {
		t.Errorf("the call's response is %s", r.Header.Get("Content-Type"))
	}
	for _, one := range []*legacyClient{c, other} {
		stream := one.listens()
		if got := stream.event(); got != changed {
			t.Errorf("got %q", got)
		}
	}
}

func TestACancelledLegacyCallGetsNoAnswerAndItsStreamEnds(t *testing.T) {
	cancelled := filepath.Join(t.TempDir(), "cancelled")
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{
		"tools/call slow": {fakemcp.Progress(1), fakemcp.AwaitCancel(), fakemcp.Touch(cancelled), fakemcp.Answer()},
	}), Options{})
	c := f.initialize("2025-11-25", "{}")
	r := c.ask(request{body: legacyCall(`"x"`, "fs_slow", "{}", `,"_meta":{"progressToken":"t"}`)})
	if got := r.event(); !strings.Contains(got, `"progressToken":"t"`) {
		t.Fatalf("progress: %s", got)
	}
	c.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody's"}}`)
	c.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x","reason":"enough"}}`)
	if got := r.event(); got != "" {
		t.Errorf("then came %s", got)
	}
	await(t, "the server hears of it", func() bool { return exists(cancelled) })
}

func TestABatchIsAnsweredInOneArray(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{"tools/call slow": {fakemcp.Wait(20 * time.Millisecond), fakemcp.Reply(`{"content":[]}`)}}), Options{})
	c := f.initialize("2025-03-26", "{}")
	revision := map[string]string{"MCP-Protocol-Version": ""}
	got := c.ask(request{header: revision, body: `[{"jsonrpc":"2.0","id":"a","method":"ping"},` + "\n" + `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}, ` +
		legacyCall(`1.0`, "fs_slow", "{}", "") + `]`})
	got.wants(200, httpheader.JSON, `[{"jsonrpc":"2.0","id":"a","result":{}},{"jsonrpc":"2.0","id":1.0,"result":{"content":[]}}]`)
	c.ask(request{header: revision, body: `[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`}).wants(202, "", "")
	for _, bad := range []string{`[]`, `[1]`, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{}]`, `[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`,
		"[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 256) + `{"jsonrpc":"2.0","id":1,"method":"ping"}]`} {
		if r := c.ask(request{header: revision, body: bad}); r.StatusCode != 400 {
			t.Errorf("%.60s…: %d", bad, r.StatusCode)
		}
	}
}

func TestLineEndsInAMessageDoNotReachTheServer(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, nil), Options{})
	c := f.initialize("2025-11-25", "{}")
	got := c.ask(request{body: "\r\n{\n\t\"jsonrpc\": \"2.0\",\r\n \"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"fs_echo\",\n\"arguments\":{\"a\":\"\\n\"}}}\n"}).text()
	if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%s}`, fakemcp.EchoResult("fake", "tools/call", `{"name":"echo", "arguments":{"a":"\n"}}`)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r := c.ask(request{body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\nng\"}"}); r.StatusCode != 400 {
		t.Errorf("a line end within a string: %d %s", r.StatusCode, r.text())
	}
}

// A request may have been let in just before a reload, and begin its session after Recheck has
// looked at the sessions.
func TestASessionThatBeginsTooLateDoesNotBegin(t *testing.T) {
	var in atomic.Bool
	f := newFront(t, echoing(fakemcp.Legacy, nil), Options{Options: presence.Options{
		Caller: func(r *http.Request) (presence.Caller, error) {
			return presence.Caller{Client: client.Info{Principal: budget.Principal{Subject: r.Header.Get("X-Who")}}}, nil
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
