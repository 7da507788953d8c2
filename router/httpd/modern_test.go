package httpd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/fixtures/fakemcp"
	"toolman/mcpwire/httpheader"
)

// echoed is the answer of the fake server to a modern call of echo.
func echoed(id, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1.0.0"}},`+
		`"content":[],"server":"fake","method":"tools/call","params":{"name":"echo","arguments":%s,%s}}}`, id, arguments, envelope(meta))
}

// A JSON parser that is not careful changes any of these.
var oddIDs = []string{`0`, `-1`, `7`, `9007199254740993`, `123456789012345678901234567890`, `1.50`, `1e3`, `""`, `"1"`, `"\u0000\ud83d\ude00"`, `"<&>\/"`, `"é世"`}

func TestIDsComeBackAsTheyWereSent(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Modern, nil), Options{})
	c := f.initialize("2025-11-25", "{}")
	for _, id := range oddIDs {
		f.do(toolCall(id, "fs_echo", `{"a" : 1.0}`, "")).wants(200, httpheader.JSON, echoed(id, `{"a" : 1.0}`, ""))
		got := c.ask(request{body: legacyCall(id, "fs_echo", "{}", "")}).text()
		if want := `{"jsonrpc":"2.0","id":` + id + `,"result":`; !strings.HasPrefix(got, want) {
			t.Errorf("legacy: got %s, want %s…", got, want)
		}
	}
}

func TestRequestsWithTheSameIDsAndTokensDoNotMeet(t *testing.T) {
	f := newFront(t, echoing(fakemcp.BothEras, map[string][]fakemcp.Step{
		"tools/call step": {fakemcp.Line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{{token}},"progress":1,"message":{{arg me}}}}`),
			fakemcp.Wait(20 * time.Millisecond), fakemcp.Reply(`{"resultType":"complete","content":[],"me":{{arg me}}}`)},
	}), Options{})
	const clients = 64
	var wg sync.WaitGroup
	for i := range clients {
		c := f.initialize("2025-11-25", "{}")
		wg.Go(func() {
			for round := range 3 {
				me := fmt.Sprintf(`"%d-%d"`, i, round)
				id := oddIDs[round]
				wantsSteps(t, f.do(toolCall(id, "fs_step", `{"me":`+me+`}`, `,"progressToken":1`)), id, `1`, me)
				legacy := fmt.Sprintf(`"legacy-%d-%d"`, i, round)
				wantsSteps(t, c.ask(request{body: legacyCall(id, "fs_step", `{"me":`+legacy+`}`, `,"_meta":{"progressToken":1}`)}), id, `1`, legacy)
			}
		})
	}
	wg.Wait()
}

// wantsSteps asserts that a call heard of its own progress, and had its own answer.
func wantsSteps(t *testing.T, r *reply, id, token, me string) {
	t.Helper()
	if progress := r.event(); !strings.Contains(progress, `"progressToken":`+token+`,"progress":1,"message":`+me) {
		t.Errorf("%s heard the progress %s", me, progress)
	}
	if answer := r.event(); !strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":`+id+`,`) || !strings.Contains(answer, `"me":`+me) {
		t.Errorf("%s was answered %s", me, answer)
	}
	if more := r.event(); more != "" {
		t.Errorf("%s then heard %s", me, more)
	}
}

func TestOnlyWhatComesBeforeTheAnswerMakesAStream(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Modern, map[string][]fakemcp.Step{"tools/call step": {fakemcp.Progress(1), fakemcp.Answer()}}), Options{})
	for name, want := range map[string]struct{ tool, kind string }{"an answer": {"fs_echo", httpheader.JSON}, "progress": {"fs_step", httpheader.EventStream}} {
		r := f.do(toolCall(`1`, want.tool, `{}`, `,"progressToken":"p"`))
		if r.Header.Get("Content-Type") != want.kind {
			t.Errorf("%s: %s", name, r.Header.Get("Content-Type"))
		}
		if buffering := r.Header.Get("X-Accel-Buffering"); (buffering == "no") != (want.kind == httpheader.EventStream) {
			t.Errorf("%s: X-Accel-Buffering %q", name, buffering)
		}
	}
}

func TestAClosedStreamCancelsAModernCallAndNoLegacyOne(t *testing.T) {
	for _, era := range []string{"modern", "legacy"} {
		t.Run(era, func(t *testing.T) {
			dir := t.TempDir()
			began, cancelled := filepath.Join(dir, "began"), filepath.Join(dir, "cancelled")
			f := newFront(t, echoing(era, map[string][]fakemcp.Step{
				"tools/call slow": {fakemcp.Touch(began), fakemcp.AwaitCancel(), fakemcp.Touch(cancelled)},
			}), Options{})
			ctx, hangUp := context.WithCancel(t.Context())
			q := toolCall(`1`, "fs_slow", `{}`, "")
			if era == "legacy" {
				c := f.initialize("2025-11-25", "{}")
				q = request{body: legacyCall(`1`, "fs_slow", `{}`, ""), header: map[string]string{"Mcp-Session-Id": c.id}}
			}
			q.ctx = ctx
			go func() {
				await(t, "the call has begun", func() bool { return exists(began) })
				hangUp()
			}()
			f.hungUp(q)
			if era == "modern" {
				await(t, "the server hears of it", func() bool { return exists(cancelled) })
				return
			}
			await(t, "the request is served no more", func() bool { return f.e.Calls() == 0 })
			if time.Sleep(50 * time.Millisecond); exists(cancelled) {
				t.Error("the call was cancelled")
			}
		})
	}
}

func TestASubscriptionIsAStreamThatEndsInGoodOrder(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Modern, map[string][]fakemcp.Step{
		"tools/call grow": {fakemcp.Add("tools/list", fakemcp.Tool("more", "came later")), fakemcp.Announce("tools"), fakemcp.Answer()},
	}), Options{KeepAlive: 10 * time.Millisecond})
	listen := func(id string) *reply {
		return f.do(modern(id, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`, ""))
	}
	one, two := listen(`"s"`), listen(`"s"`) // of two programs
	for _, r := range []*reply{one, two} {
		if got, want := r.event(), `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"},`+
			`"notifications":{"toolsListChanged":true}}}`; got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	}
	f.do(toolCall(`2`, "fs_grow", `{}`, "")).text()
	for _, r := range []*reply{one, two} {
		if got, want := r.event(), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`; got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	}
	if line, err := one.events.ReadString('\n'); err == nil {
		for ; err == nil && line != ": \n"; line, err = one.events.ReadString('\n') {
		}
		if err != nil {
			t.Errorf("no sign of life: %v", err)
		}
	}
	f.e.EndStreams()
	for _, r := range []*reply{one, two} {
		if got, want := r.event(), `{"jsonrpc":"2.0","id":"s","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if more := r.event(); more != "" {
			t.Errorf("then came %s", more)
		}
	}
}

func TestASubscriptionEndsWithItsStream(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Modern, nil), Options{})
	ctx, hangUp := context.WithCancel(t.Context())
	q := modern(`1`, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`, "")
	q.ctx = ctx
	f.do(q).event()
	s := f.shared()
	if got := len(s.Requests()); got != 1 {
		t.Fatalf("%d subscriptions are open", got)
	}
	hangUp()
	await(t, "it is forgotten", func() bool { return len(s.Requests()) == 0 })
}
