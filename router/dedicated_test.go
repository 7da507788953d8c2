package router

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"toolman/fixtures/fakemcp"
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/dial"
	"toolman/router/session"
	"toolman/router/subscribe"
	"toolman/router/upstream"
)

// A played connection leads to a fake server in the test's own process.
type played struct {
	peer *peer.Peer
	over chan struct{}
}

func (p *played) Out() peer.Sender { return p.peer }

func (p *played) Start(h peer.Handler, ended <-chan struct{}) { p.peer.Start(h) }

func (p *played) Stop() {
	p.peer.CloseWrite()
	<-p.over
	p.peer.Close()
}

func (p *played) Cause(err error) (string, bool) { return err.Error(), true }
func (p *played) LastWords() string              { return "" }
func (p *played) String() string                 { return "fake" }

// A hall is a router with real connections to fake servers, and counts those that run.
type hall struct {
	t       *testing.T
	r       *Router
	started atomic.Int32
	running atomic.Int32
}

func newHall(t *testing.T, share dial.Share, spec *fakemcp.Spec) *hall {
	t.Helper()
	return newHallOf(t, upstream.Server{Share: share}, spec)
}

func newHallOf(t *testing.T, server upstream.Server, spec *fakemcp.Spec) *hall {
	t.Helper()
	h := &hall{t: t}
	server.Dial = h.dial(spec)
	h.open(server, zap.NewNop())
	return h
}

// dial connects to a fake server of its own each time.
func (h *hall) dial(spec *fakemcp.Spec) func(func(string)) (dial.Conn, error) {
	return func(func(string)) (dial.Conn, error) {
		in, theirOut := io.Pipe()
		theirIn, out := io.Pipe()
		h.started.Add(1)
		h.running.Add(1)
		over := make(chan struct{})
		go func() {
			defer close(over)
			fakemcp.Run(spec, theirIn, theirOut, io.Discard)
			theirOut.Close()
			h.running.Add(-1)
		}()
		return &played{peer.NewStream(in, out, peer.Options{}), over}, nil
	}
}

// patience is how long anything a test waits for may take: a bound for hangs, far above what a busy
// machine needs.
const patience = 2 * time.Minute

// open starts the router with one server, everything of which is active.
func (h *hall) open(s upstream.Server, log *zap.Logger) {
	s.Namespace, s.StartTimeout = "a", patience
	globs, _ := catalog.CompileGlobs([]string{"*"})
	h.r = New(Options{Active: globs, URISeparator: "_", Servers: []upstream.Server{s}, Recall: s.Memory != nil}, nil, log)
	h.r.Start(nil)
	h.r.HandshakeShared()
	<-h.r.Started()
	h.t.Cleanup(func() {
		h.r.Close()
		if n := h.running.Load(); n != 0 {
			h.t.Errorf("%d servers run on", n)
		}
	})
}

// A visitor is a client of a hall.
type visitor struct {
	t     *testing.T
	s     *session.Session
	heard chan string
	kept  []string // heard, and not asked for yet
}

func (v *visitor) Queue(frame []byte, edits []jsonrpc.Edit) error {
	v.heard <- string(jsonrpc.AppendSplice(nil, frame, edits...))
	return nil
}
func (v *visitor) Flush() {}

func (h *hall) enter(who client.Info) *visitor {
	v := &visitor{t: h.t, heard: make(chan string, 100)}
	v.s = h.r.NewSession(v, who)
	return v
}

func (h *hall) initialized(capabilities string) *visitor {
	return h.initializedAs(client.Info{}, capabilities)
}

func (h *hall) initializedAs(who client.Info, capabilities string) *visitor {
	v := h.enter(who)
	v.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"v","version":"1"}}}`)
	v.hears(`"id":0`)
	v.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return v
}

func (v *visitor) says(frame string) {
	v.t.Helper()
	var m jsonrpc.Message
	var out peer.Outgoing
	if err := jsonrpc.Scan([]byte(frame), &m); err != nil {
		v.t.Fatalf("%v: %s", err, frame)
	}
	v.s.Message(&m, &out)
	out.Flush()
}

// hears returns the next frame that has part in it.
func (v *visitor) hears(part string) string {
	v.t.Helper()
	if i := slices.IndexFunc(v.kept, func(frame string) bool { return strings.Contains(frame, part) }); i >= 0 {
		frame := v.kept[i]
		v.kept = slices.Delete(v.kept, i, i+1)
		return frame
	}
	for {
		select {
		case frame := <-v.heard:
			if strings.Contains(frame, part) {
				return frame
			}
			v.kept = append(v.kept, frame)
		case <-time.After(patience):
			v.t.Fatalf("never heard of %s", part)
		}
	}
}

// modern is a request of the modern era.
func modern(id, method, params, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
		`"io.modelcontextprotocol/clientInfo":{"name":"v","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`, id, method, params, mcpwire.Newest, capabilities)
}

// asking is a server whose tool asks its client who it is, and says so.
func asking() *fakemcp.Spec {
	return &fakemcp.Spec{
		Tools: []fakemcp.Raw{fakemcp.Tool("who", "asks"), fakemcp.Tool("plain", "asks nothing")},
		On: map[string][]fakemcp.Step{
			"tools/call who": {fakemcp.Ask(`"q"`, "elicitation/create", `{"message":"who?","requestedSchema":{"type":"object","properties":{}}}`), fakemcp.Reply(`{"content":[],"got":{{answer}}}`)},
		},
	}
}

func TestAClientThatCanBeAskedHasAProcessOfItsOwn(t *testing.T) {
	h := newHall(t, dial.ShareAuto, asking())
	mute, a, b := h.initialized(`{}`), h.initialized(`{"elicitation":{}}`), h.initialized(`{"elicitation":{}}`)
	for _, v := range []*visitor{mute, a, b} {
		v.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if list := v.hears(`"id":1`); !strings.Contains(list, `"a_who"`) {
			t.Errorf("listed %s", list)
		}
	}
	if n := h.started.Load(); n != 3 {
		t.Errorf("%d processes were started, want a shared one and two others", n)
	}
	for _, v := range []*visitor{a, b} {
		v.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_who"}}`)
	}
	for _, v := range []*visitor{b, a} {
		v.hears("elicitation/create")
	}
	mute.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_plain"}}`)
	mute.hears(`"id":2`)
	a.s.End()
	eventually(t, "two processes run after a session has ended", func() bool { return h.running.Load() == 2 })
}

func TestSharingCanBeForcedAndForbidden(t *testing.T) {
	for _, c := range []struct {
		share        dial.Share
		capabilities string
		started      int32
	}{
		{dial.ShareAlways, `{"elicitation":{},"sampling":{},"roots":{}}`, 1},
		{dial.ShareNever, `{}`, 3},
		{dial.ShareAuto, `{"experimental":{}}`, 1},
		{dial.ShareAuto, `{"roots":{}}`, 3},
	} {
		h := newHall(t, c.share, asking())
		for range 2 {
			v := h.initialized(c.capabilities)
			v.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			v.hears(`"a_who"`)
		}
		if n := h.started.Load(); n != c.started {
			t.Errorf("share %d with %s: %d processes, want %d", c.share, c.capabilities, n, c.started)
		}
	}
}

// Each of many modern clients that speak through one session gets what its own call
// asks, although the server does not say which call it means.
func TestCallsThatMayAskHaveAProcessToThemselves(t *testing.T) {
	h := newHall(t, dial.ShareAuto, asking())
	v := h.enter(client.Info{Many: true})
	const able = `{"elicitation":{"form":{}}}`
	const calls = 3 * mostLeased
	for i := range calls {
		v.says(modern(fmt.Sprint(i), "tools/call", `"name":"a_who"`, able))
	}
	for i := range calls {
		asked := v.hears("input_required")
		m := scanned(t, asked)
		id := string(m.Bytes(m.ID))
		state, _ := m.Get(m.Result, "requestState")
		params := fmt.Sprintf(`"name":"a_who","requestState":%s,"inputResponses":{"0":{"action":"accept","content":{"i":%s}}}`, m.Bytes(state), id)
		v.says(modern(fmt.Sprintf(`"again %s"`, id), "tools/call", params, able))
		if answer := v.hears(fmt.Sprintf(`"again %s"`, id)); !strings.Contains(answer, fmt.Sprintf(`"i":%s}`, id)) {
			t.Errorf("call %d, %s, got %s", i, id, answer)
		}
	}
	if n := h.started.Load(); n != 1+mostLeased {
		t.Errorf("%d processes were started, want the shared one and %d", n, mostLeased)
	}
	v.says(modern("99", "tools/call", `"name":"a_plain"`, `{}`))
	v.hears(`"id":99`)
	v.s.End()
}

// Servers ask by what they were told at the handshake: what the client of a call has not
// declared, they must not have heard of.
func TestALeasedProcessIsToldWhatTheClientOfTheCallHasDeclared(t *testing.T) {
	spec := asking()
	spec.Record = filepath.Join(t.TempDir(), "record")
	h := newHall(t, dial.ShareAuto, spec)
	v := h.enter(client.Info{Many: true})
	for i, declared := range []string{`{"sampling":{},"extensions":{"x/y":{}}}`, `{"elicitation":{"form":{}}}`, `{"sampling":{}}`} {
		v.says(modern(fmt.Sprint(i), "tools/call", `"name":"a_plain"`, declared))
		v.hears(fmt.Sprintf(`"id":%d,`, i))
	}
	record, err := os.ReadFile(spec.Record)
	if err != nil {
		t.Fatal(err)
	}
	for _, told := range []string{`"capabilities":{"sampling":{}}`, `"capabilities":{"elicitation":{"form":{}}}`} {
		if n := strings.Count(string(record), told); n != 1 {
			t.Errorf("%d processes were told %s, want 1:\n%s", n, told, record)
		}
	}
	v.s.End()
}

// logger is a server of both eras whose tool logs.
func logger() *fakemcp.Spec {
	return &fakemcp.Spec{Eras: fakemcp.BothEras, Tools: []fakemcp.Raw{fakemcp.Tool("log", "logs")}, On: map[string][]fakemcp.Step{
		"tools/call log": {fakemcp.Notify("notifications/message", `{"level":"info","data":"said"}`), fakemcp.Answer()},
	}}
}

func TestAModernClientHearsTheLogOfItsCallAlsoAtASharedServer(t *testing.T) {
	for _, era := range []mcpwire.Era{mcpwire.Legacy, mcpwire.Modern} {
		h := newHallOf(t, upstream.Server{Era: era}, logger())
		v := h.enter(client.Info{Many: true})
		call := modern("1", "tools/call", `"name":"a_log"`, `{}`)
		v.says(call)
		v.hears(`"id":1`)
		if len(v.kept) > 0 {
			t.Errorf("%s: nobody wanted to hear %q", era, v.kept)
		}
		v.says(strings.Replace(call, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"info",`, 1))
		v.hears(`"said"`)
	}
}

func TestAModernClientHearsThatTheListsOfASharedServerChange(t *testing.T) {
	for _, era := range []mcpwire.Era{mcpwire.Legacy, mcpwire.Modern} {
		h := newHallOf(t, upstream.Server{Era: era}, &fakemcp.Spec{Eras: fakemcp.BothEras, Tools: []fakemcp.Raw{fakemcp.Tool("grow", "")}, On: map[string][]fakemcp.Step{
			"tools/call grow": {fakemcp.Add("tools/list", fakemcp.Tool("new", "")), fakemcp.Announce("tools"), fakemcp.Notify("notifications/tools/list_changed", `{}`), fakemcp.Answer()},
		}})
		v := h.enter(client.Info{Many: true})
		v.says(modern(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, `{}`))
		v.hears("acknowledged")
		v.says(modern("1", "tools/call", `"name":"a_grow"`, `{}`))
		v.hears("tools/list_changed")
		v.says(modern("2", "tools/list", `"cursor":null`, `{}`))
		if list := v.hears(`"id":2`); !strings.Contains(list, `"a_new"`) {
			t.Errorf("%s: listed %s", era, list)
		}
	}
}

// A server that is to be one for each session is not leased: it may keep what a call
// leaves behind.
func TestAServerThatIsNeverSharedHasOneProcess(t *testing.T) {
	h := newHall(t, dial.ShareNever, asking())
	v := h.enter(client.Info{Many: true})
	const able = `{"elicitation":{"form":{}}}`
	for i := range 3 {
		v.says(modern(fmt.Sprint(i), "tools/call", `"name":"a_plain"`, able))
		v.hears(fmt.Sprintf(`"id":%d`, i))
	}
	if n := h.started.Load(); n != 2 {
		t.Errorf("%d processes were started, want a shared one and the session's own", n)
	}
}

// A level that one client sets takes no messages from another.
func TestASharedServerLogsWhatAnyClientWants(t *testing.T) {
	logging := func(level string) fakemcp.Step {
		return fakemcp.Notify("notifications/message", fakemcp.Raw(`{"level":"`+level+`","data":"`+level+`"}`))
	}
	spec := &fakemcp.Spec{Tools: []fakemcp.Raw{fakemcp.Tool("talk", "logs")}, On: map[string][]fakemcp.Step{
		"tools/call talk": {logging("debug"), logging("error"), fakemcp.Answer()}}}
	spec.Record = filepath.Join(t.TempDir(), "record")
	h := newHall(t, dial.ShareAuto, spec)
	all, few := h.initialized(`{}`), h.initialized(`{}`)
	for level, v := range map[string]*visitor{"debug": all, "error": few} {
		v.says(`{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"` + level + `"}}`)
		v.hears(`"id":"l"`)
	}
	for v, want := range map[*visitor]int{all: 2, few: 1} {
		v.says(`{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"a_talk"}}`)
		v.hears(`"id":"t"`)
		heard := 0
		for _, frame := range v.kept {
			heard += strings.Count(frame, "notifications/message")
		}
		if heard != want {
			t.Errorf("heard %d messages, want %d: %q", heard, want, v.kept)
		}
	}
	record, err := os.ReadFile(spec.Record)
	if err != nil {
		t.Fatal(err)
	}
	last := record[strings.LastIndex(string(record), "logging/setLevel"):]
	if !strings.Contains(string(last[:min(len(last), 60)]), "debug") {
		t.Errorf("the server was told at last: %s", last)
	}
}

func TestManyProgramsMayHaveManySubscriptions(t *testing.T) {
	h := newHall(t, dial.ShareAuto, asking())
	v := h.enter(client.Info{Many: true})
	for i := range subscribe.MaxListens + 8 {
		v.says(modern(fmt.Sprint(i), "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, `{}`))
		v.hears(fmt.Sprintf(`"io.modelcontextprotocol/subscriptionId":%d}`, i))
	}
	v.s.End()
}
