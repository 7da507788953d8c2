package router

import (
	"strings"
	"testing"
	"time"

	"toolman/fixtures/fakemcp"
	"toolman/router/catalog"
	"toolman/router/dial"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// eventually waits for what goroutines do.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func (v *visitor) lists(t *testing.T) string {
	t.Helper()
	v.says(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	return v.hears(`"id":"list"`)
}

func TestReloadKeepsWhatStaysAndEndsTheRest(t *testing.T) {
	h := newHall(t, dial.ShareAuto, &fakemcp.Spec{Tools: []fakemcp.Raw{fakemcp.Tool("slow", "hangs"), fakemcp.Tool("quick", "does not")},
		On: map[string][]fakemcp.Step{"tools/call slow": {fakemcp.Wait(300 * time.Millisecond), fakemcp.Reply(`{"content":[],"slow":true}`)}}})
	v := h.initialized(`{}`)
	v.lists(t)
	v.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_slow"}}`)

	o := h.r.Options
	a, b := o.Servers[0], o.Servers[0]
	b.Namespace, b.Fingerprint = "b", "another"
	o.Servers = []upstream.Server{b, a}
	h.r.Reload(o)
	v.hears("tools/list_changed")
	if answer := v.hears(`"id":1`); !strings.Contains(answer, `"slow":true`) {
		t.Errorf("a call under way during the reload is answered %s", answer)
	}
	eventually(t, "both servers are listed", func() bool { return strings.Contains(v.lists(t), `"b_quick"`) })
	if n := h.started.Load(); n != 2 {
		t.Errorf("%d servers were started in all, want 2", n)
	}

	o.Servers = []upstream.Server{b}
	h.r.Reload(o)
	if list := v.lists(t); strings.Contains(list, `"a_quick"`) || !strings.Contains(list, `"b_quick"`) {
		t.Errorf("after its server was taken out: %s", list)
	}
	v.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_quick"}}`)
	if answer := v.hears(`"id":2`); !strings.Contains(answer, "isError") {
		t.Errorf("a tool of a server that was taken out answers %s", answer)
	}
	eventually(t, "one server runs on", func() bool { return h.running.Load() == 1 })
}

func TestReloadTakesCallsBackFromAServerThatLeaves(t *testing.T) {
	h := newHall(t, dial.ShareAuto, &fakemcp.Spec{Tools: []fakemcp.Raw{fakemcp.Tool("hang", "hangs")}, On: map[string][]fakemcp.Step{"tools/call hang": {fakemcp.Hang()}}})
	v := h.initialized(`{}`)
	v.lists(t)
	v.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_hang"}}`)
	o := h.r.Options
	o.Servers = nil
	h.r.Reload(o)
	if answer := v.hears(`"id":1`); !strings.Contains(answer, "removed from the configuration or changed there") {
		t.Errorf("the call is answered %s", answer)
	}
}

func TestReloadChangesWhatIsActiveAndLeavesWhatWasSwitched(t *testing.T) {
	h := newHall(t, dial.ShareAuto, &fakemcp.Spec{Tools: []fakemcp.Raw{fakemcp.Tool("x", ""), fakemcp.Tool("y", "")}})
	v := h.initialized(`{}`)
	v.lists(t)
	v.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toolman_activate","arguments":{"tools_on":[],"tools_off":["a_y"],"resources_on":[],"resources_off":[]}}}`)
	v.hears("list_changed")
	v.hears(`"id":1`)
	o := h.r.Options
	o.Active, _ = catalog.CompileGlobs([]string{"a_y"})
	h.r.Reload(o)
	v.hears("list_changed")
	if list := v.lists(t); strings.Contains(list, `"a_x"`) || strings.Contains(list, `"a_y"`) {
		t.Errorf("listed %s", list)
	}
	if fresh := h.initialized(`{}`).lists(t); strings.Contains(fresh, `"a_x"`) || !strings.Contains(fresh, `"a_y"`) {
		t.Errorf("a new client is listed %s", fresh)
	}
	if n := h.started.Load(); n != 1 {
		t.Errorf("%d servers were started, want 1", n)
	}
}

func TestReloadOfTheSameChangesNothing(t *testing.T) {
	h := newHall(t, dial.ShareAuto, asking())
	v := h.initialized(`{"elicitation":{}}`)
	before := v.lists(t)
	o := h.r.Options
	o.Dangers = dangerous(t, policy.Elicit, "a_who").Dangers
	h.r.Reload(o)
	o.Dangers = dangerous(t, policy.Elicit, "a_who").Dangers
	v.lists(t)
	v.kept = nil
	h.r.Reload(o)
	if after := v.lists(t); after != before {
		t.Errorf("listed %s, before %s", after, before)
	}
	for _, frame := range v.kept {
		if strings.Contains(frame, "list_changed") {
			t.Errorf("the client was told of a change: %s", frame)
		}
	}
	if n := h.started.Load(); n != 2 {
		t.Errorf("%d servers were started, want a shared one and the client's own", n)
	}
}

// A client's own process is judged anew as well: its tools are those that the client has.
func TestReloadJudgesTheToolsOfOwnProcessesAnew(t *testing.T) {
	h := newHall(t, dial.ShareAuto, asking())
	v := h.initialized(`{"elicitation":{}}`)
	if list := v.lists(t); !strings.Contains(list, `"a_who"`) {
		t.Fatalf("listed %s", list)
	}
	o := h.r.Options
	o.Dangers = dangerous(t, policy.Deny, "a_who").Dangers
	h.r.Reload(o)
	if list := v.lists(t); strings.Contains(list, `"a_who"`) {
		t.Errorf("listed %s", list)
	}
	o.Dangers = dangerous(t, policy.Elicit, "a_who").Dangers
	o.Scrub = func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }
	h.r.Reload(o)
	v.lists(t)
	v.says(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a_who","arguments":{"a":"hunter22"}}}`)
	if asked := v.hears("elicitation/create"); !strings.Contains(asked, "dangerous_tools (tools.toml:12)") || !strings.Contains(asked, "***") {
		t.Errorf("asked %s", asked)
	}
}

// A client has no process of a server of which it may have nothing.
func TestReloadEndsOwnProcessesOfAServerThatIsClosed(t *testing.T) {
	h := newHall(t, dial.ShareAuto, asking())
	v := h.initialized(`{"elicitation":{}}`)
	v.lists(t)
	o := h.r.Options
	closed, err := (&policy.Rules{File: "f"}).For("")
	if err != nil {
		t.Fatal(err)
	}
	o.Policy = closed
	h.r.Reload(o)
	eventually(t, "the shared process runs alone", func() bool { return h.running.Load() == 1 })
	if list := v.lists(t); strings.Contains(list, `"a_who"`) {
		t.Errorf("listed %s", list)
	}
	o.Policy = nil
	h.r.Reload(o)
	eventually(t, "the client has a process of its own again", func() bool { return h.running.Load() == 2 })
	eventually(t, "it is listed", func() bool { return strings.Contains(v.lists(t), `"a_who"`) })
}
