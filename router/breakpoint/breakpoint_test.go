package breakpoint

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
)

// A rig is a Gate between a side and a handler that write down what they get.
type rig struct {
	t      *testing.T
	d      *Debugger
	c      *Client
	gate   *Gate
	leg    trace.Leg
	asked  Request
	traced bytes.Buffer
	w      *trace.Writer

	mu     sync.Mutex
	passed []string // frames that went on
	side   []string // what the side was told
	events []Event
}

func newRig(t *testing.T, leg trace.Leg, o Options) *rig {
	r := &rig{t: t, d: New(o), leg: leg}
	r.w = trace.NewWriter(&r.traced, trace.Options{})
	r.d.TraceTo(r.w)
	r.c = r.d.Open(func(e Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if e.Event != "rules" {
			r.events = append(r.events, e)
		}
	})
	r.gate = r.d.Gate(r, (*inner)(r))
	return r
}

// trace ends the trace and returns its events.
func (r *rig) trace() (events []*trace.Record) {
	if err := r.w.Close(time.Minute); err != nil {
		r.t.Fatal(err)
	}
	for rec, err := range trace.Read(&r.traced) {
		if err != nil {
			r.t.Fatal(err)
		}
		if rec.Type == trace.TypeEvent {
			events = append(events, rec)
		}
	}
	return events
}

func (r *rig) rule(rule Rule) int {
	r.t.Helper()
	added, err := r.c.AddRule(rule)
	if err != nil {
		r.t.Fatal(err)
	}
	return added.N
}

func (r *rig) send(frames ...string) {
	for _, frame := range frames {
		var m jsonrpc.Message
		var out peer.Outgoing
		text := []byte(frame)
		if err := jsonrpc.Scan(text, &m); err != nil {
			r.t.Fatal(err)
		}
		r.gate.Message(&m, &out)
		out.Flush()
		clear(text) // it belongs to the reader again
	}
}

// want compares what went on and what the side was told since the last time.
func (r *rig) want(passed, side []string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.passed, passed) || !slices.Equal(r.side, side) {
		r.t.Errorf("passed\n%s\nside\n%s\nwant\n%s\nside\n%s", strings.Join(r.passed, "\n"), strings.Join(r.side, "\n"), strings.Join(passed, "\n"), strings.Join(side, "\n"))
	}
	r.passed, r.side = nil, nil
}

func (r *rig) wantEvents(want ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var got []string
	for _, e := range r.events {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s", e.Event, e.N, e.Done)))
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("events %q, want %q", got, want)
	}
	r.events = nil
}

func (r *rig) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.side = append(r.side, fmt.Sprintf(format, args...))
}

func (r *rig) Place() Place {
	from := FromClient
	if r.leg == trace.Upstream {
		from = FromServer
	}
	return Place{From: from, Leg: r.leg, Dir: trace.In, Peer: "far"}
}
func (r *rig) Asked([]byte) Request { return r.asked }
func (r *rig) Answer(m *jsonrpc.Message, frame []byte, _ *peer.Outgoing) {
	r.note("answer %s", frame)
}
func (r *rig) Drop(m *jsonrpc.Message, _ *peer.Outgoing) { r.note("drop %s", m.Frame) }
func (r *rig) Disconnect(why string)                     { r.note("disconnect") }

// inner is the rig as the handler behind the Gate.
type inner rig

func (i *inner) Message(m *jsonrpc.Message, _ *peer.Outgoing) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.passed = append(i.passed, string(m.Frame))
}
func (i *inner) Bad(*jsonrpc.Message, error, *peer.Outgoing) {}
func (i *inner) Closed(err error)                            { (*rig)(i).note("closed") }

func call(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

const (
	list     = `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`
	progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}`
	response = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
)

func all(frames ...string) []string { return frames }

func TestHeldMessageLetsOthersPass(t *testing.T) {
	r := newRig(t, trace.Client, Options{})
	r.rule(Rule{Filter: []string{"tool:slow"}, Action: Hold})
	r.send(call(1, "slow"), call(2, "fast"), progress)
	r.want(all(call(2, "fast"), progress), nil)
	r.wantEvents("held 1")
	if err := r.c.Release(1); err != nil {
		t.Fatal(err)
	}
	r.want(all(call(1, "slow")), nil)
	r.wantEvents("released 1 passed")
	if err := r.c.Release(1); err == nil {
		t.Error("it was released twice")
	}
	events := r.trace()
	if len(events) != 2 || events[0].Event != trace.EventHeld || events[1].Event != trace.EventReleased || events[1].Hold != 1 ||
		events[1].Done != trace.DonePassed || string(events[1].ID) != "1" || events[1].Leg != trace.Client || events[1].Peer != "far" || events[1].Msg != nil {
		t.Errorf("trace %+v", events)
	}
}

func TestEditIsAMessageOfItsKindWithItsID(t *testing.T) {
	r := newRig(t, trace.Client, Options{})
	r.rule(Rule{Kind: "request", Action: Hold})
	r.send(call(1, "a"))
	for _, bad := range []string{`{`, `[]`, `{"jsonrpc":"2.0"}`, call(2, "a"), response, progress, `{"jsonrpc":"2.0","id":"1","method":"x"}`} {
		if err := r.c.Edit(1, []byte(bad)); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
	r.want(nil, nil)
	if err := r.c.Edit(1, []byte(strings.ReplaceAll(call(1, "b"), ",", ",\n"))); err != nil {
		t.Fatal(err)
	}
	r.want(all(strings.ReplaceAll(call(1, "b"), ",", ", ")), nil)
	r.wantEvents("held 1", "released 1 edited")
	if events := r.trace(); len(events) != 2 || string(events[1].Msg) != call(1, "a") || events[1].Done != trace.DoneEdited {
		t.Errorf("trace %+v", events)
	}
}

func TestAnswers(t *testing.T) {
	r := newRig(t, trace.Client, Options{})
	r.rule(Rule{Action: Hold})
	r.send(call(1, "a"), response, progress)
	if r.c.Answer(1, nil, nil) == nil || r.c.Answer(1, []byte(`{}`), []byte(`{}`)) == nil || r.c.Answer(3, []byte(`{}`), nil) == nil || r.c.Answer(7, []byte(`{}`), nil) == nil {
		t.Error("an impossible answer was accepted")
	}
	if err := r.c.Answer(1, []byte(`{"content":[1]}`), nil); err != nil {
		t.Fatal(err)
	}
	r.want(nil, all(`answer {"jsonrpc":"2.0","id":1,"result":{"content":[1]}}`))
	if err := r.c.Answer(2, nil, []byte(`{"code":1,"message":"no"}`)); err != nil {
		t.Fatal(err)
	}
	r.want(all(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`), nil)
	if err := r.c.Drop(3); err != nil {
		t.Fatal(err)
	}
	r.want(nil, all("drop "+progress))
	r.wantEvents("held 1", "held 2", "held 3", "released 1 answered", "released 2 answered", "released 3 dropped")
}

func TestCancelDropsAHeldRequest(t *testing.T) {
	r := newRig(t, trace.Client, Options{})
	n := r.rule(Rule{Filter: []string{"tool:slow"}, Action: Hold})
	r.send(call(1, "slow"))
	if err := r.c.RemoveRule(n); err != nil {
		t.Fatal(err)
	}
	const cancel1 = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	const cancel2 = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`
	r.send(cancel2, cancel1)
	r.want(all(cancel2), all("drop "+call(1, "slow"), "drop "+cancel1))
	r.wantEvents("held 1", "released 1 cancelled")
	if r.d.busy.Load() {
		t.Error("still busy")
	}
}

func TestFaults(t *testing.T) {
	r := newRig(t, trace.Upstream, Options{})
	r.asked = Request{Method: "tools/call", Names: []string{"fs_read", "read"}}
	r.rule(Rule{Filter: []string{"tool:fs_read"}, Kind: "response", Action: Error, Text: "broken", Code: -5, Count: 1})
	r.send(response, response)
	r.want(all(`{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"broken (an error that toolman's debugger has made)"}}`, response), nil)
	r.rule(Rule{Kind: "request", From: FromServer, Action: Error, Count: 1})
	r.send(list)
	r.want(nil, all(`answer {"jsonrpc":"2.0","id":9,"error":{"code":-32603,"message":"toolman's debugger has made this error (rule every message)"}}`))
	r.rule(Rule{From: FromClient, Action: Drop})
	r.rule(Rule{Filter: []string{"method:progress"}, Action: Drop})
	r.send(progress)
	r.want(nil, all("drop "+progress))
	r.rule(Rule{Filter: []string{"method:list"}, Action: Disconnect})
	r.send(list)
	r.want(nil, all("drop "+list, "disconnect"))
	r.wantEvents("fault 0 answered", "fault 0 answered", "fault 0 dropped", "fault 0 disconnected")
	if events := r.trace(); len(events) != 4 || string(events[0].Msg) != response || events[1].Msg != nil || events[3].Done != trace.DoneDisconnected {
		t.Errorf("trace %+v", events)
	}
}

func TestDelayAndLongestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, trace.Client, Options{Hold: time.Minute})
		r.rule(Rule{Filter: []string{"tool:late"}, Action: Delay, MS: 500})
		r.rule(Rule{Filter: []string{"tool:held"}, Action: Hold})
		r.send(call(1, "late"), call(2, "held"), call(3, "held"))
		time.Sleep(499 * time.Millisecond)
		synctest.Wait()
		r.want(nil, nil)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		r.want(all(call(1, "late")), nil)
		if err := r.c.Delay(3, 2000); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		r.want(all(call(3, "held")), nil)
		time.Sleep(time.Minute - 2501*time.Millisecond)
		synctest.Wait()
		r.want(nil, nil)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		r.want(all(call(2, "held")), nil)
		r.wantEvents("fault 1 delayed", "held 2", "held 3", "released 1 passed", "fault 3 delayed", "released 3 passed", "released 2 passed")
		r.w.Close(time.Second)
	})
}

func TestBoundsLetMessagesPass(t *testing.T) {
	r := newRig(t, trace.Client, Options{Held: 2, HeldBytes: 400})
	r.rule(Rule{Action: Hold})
	r.send(call(1, "a"), call(2, strings.Repeat("b", 400)), call(3, "c"), call(4, "d"))
	r.want(all(call(2, strings.Repeat("b", 400)), call(4, "d")), nil)
	r.wantEvents("held 1", "passed_by 0 passed", "held 2", "passed_by 0 passed")
	r.c.ReleaseAll()
	r.want(all(call(1, "a"), call(3, "c")), nil)
	if r.d.bytes != 0 || len(r.d.held) != 0 {
		t.Errorf("%d bytes of %d messages are left", r.d.bytes, len(r.d.held))
	}
}

func TestPercentIsRepeatable(t *testing.T) {
	r := newRig(t, trace.Client, Options{})
	r.rule(Rule{Action: Drop, Percent: 25})
	run := func() []string {
		r.c.Seed(7)
		for i := range 1000 {
			r.send(call(i, "a"))
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		passed := r.passed
		r.passed, r.side, r.events = nil, nil, nil
		return passed
	}
	first := run()
	if n := len(first); n < 650 || n > 850 {
		t.Errorf("%d of 1000 passed", n)
	}
	if !slices.Equal(first, run()) {
		t.Error("the same seed chose others")
	}
}

func TestClosingAClientReleasesOnlyItsMessages(t *testing.T) {
	r := newRig(t, trace.Client, Options{})
	other := r.d.Open(func(Event) {})
	r.rule(Rule{Filter: []string{"tool:a"}, Action: Hold})
	if _, err := other.AddRule(Rule{Filter: []string{"tool:b"}, Action: Hold}); err != nil {
		t.Fatal(err)
	}
	r.send(call(1, "a"), call(2, "b"), call(3, "a"))
	if other.Release(1) == nil || r.c.Release(2) == nil {
		t.Error("one client released a message of the other")
	}
	r.c.Close()
	r.want(all(call(1, "a"), call(3, "a")), nil)
	r.send(call(4, "a"), call(5, "b"))
	r.want(all(call(4, "a")), nil)
	r.d.Close()
	r.want(all(call(2, "b"), call(5, "b")), nil)
	if _, err := other.AddRule(Rule{Action: Hold}); err == nil {
		t.Error("a rule after the end")
	}
	r.send(call(6, "b"))
	r.want(all(call(6, "b")), nil)
}

func TestTheFarEndGoes(t *testing.T) {
	for _, tt := range []struct {
		leg  trace.Leg
		err  error
		pass bool
	}{{trace.Client, io.EOF, true}, {trace.Client, io.ErrUnexpectedEOF, false}, {trace.Upstream, io.EOF, false}} {
		r := newRig(t, tt.leg, Options{})
		r.rule(Rule{Action: Hold})
		r.send(call(1, "a"))
		r.gate.Closed(tt.err)
		if tt.pass {
			r.want(all(call(1, "a")), all("closed"))
		} else {
			r.want(nil, all("drop "+call(1, "a"), "closed"))
		}
		if r.c.Release(1) == nil {
			t.Error("it is still held")
		}
	}
}

func TestInvalidRules(t *testing.T) {
	r := newRig(t, trace.Client, Options{})
	for _, rule := range []Rule{{}, {Action: "stop"}, {Action: Hold, From: "x"}, {Action: Hold, Kind: "x"}, {Action: Delay}, {Action: Delay, MS: 3600001},
		{Action: Error, Kind: "notification"}, {Action: Hold, Percent: 101}, {Action: Hold, Count: -1}, {Action: Hold, Filter: []string{"status:no"}}} {
		if _, err := r.c.AddRule(rule); err == nil {
			t.Errorf("accepted %+v", rule)
		}
	}
	for range maxRules {
		r.rule(Rule{Action: Hold})
	}
	if _, err := r.c.AddRule(Rule{Action: Hold}); err == nil {
		t.Error("too many rules")
	}
}

// Messages come in while others are released and the client goes away: each goes on exactly once.
func TestConcurrently(t *testing.T) {
	r := newRig(t, trace.Client, Options{})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				r.send(call(1000*g+i, []string{"a", "b"}[i%2]))
			}
		})
	}
	for range 4 {
		wg.Go(func() {
			for range 20 {
				c := r.d.Open(func(Event) {})
				c.AddRule(Rule{Filter: []string{"tool:a"}, Action: Hold})
				c.AddRule(Rule{Filter: []string{"tool:b"}, Action: Delay, MS: 1})
				c.ReleaseAll()
				for n := range uint64(50) {
					c.Release(n)
				}
				c.Close()
			}
		})
	}
	wg.Wait()
	r.d.Close()
	r.mu.Lock()
	for deadline := time.Now().Add(time.Minute); len(r.passed) < 800 && time.Now().Before(deadline); {
		r.mu.Unlock() // the delay of a message may have ended before, and it has not gone on yet
		time.Sleep(time.Millisecond)
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	slices.Sort(r.passed)
	if n := len(slices.Compact(r.passed)); len(r.passed) != 800 || n != 800 {
		t.Errorf("%d messages passed, %d different ones", len(r.passed), n)
	}
}
