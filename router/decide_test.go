package router

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/client"
	"toolman/router/limiter"
	"toolman/router/policy"
	"toolman/router/view"
)

// auditTo makes an audit log. lines ends it and returns what it has.
func auditTo(t testing.TB) (w *audit.Writer, lines func() []audit.Line) {
	t.Helper()
	var out bytes.Buffer
	w = audit.NewWriter(&out, audit.Options{})
	return w, func() (all []audit.Line) {
		t.Helper()
		if err := w.Close(time.Minute); err != nil {
			t.Fatal(err)
		}
		for text := range strings.Lines(out.String()) {
			var line audit.Line
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			all = append(all, line)
		}
		return all
	}
}

// shortly is a line in one line: what it is about, what was decided by which rule, and
// how it ended.
func shortly(lines []audit.Line) (all []string) {
	for _, l := range lines {
		about := strings.Join(strings.Fields(strings.Join([]string{l.Method, l.Server, l.Kind, l.Name}, " ")), " ")
		all = append(all, fmt.Sprintf("%s: %s (%s), %s", about, l.Verdict, l.Rule, l.Outcome))
	}
	return all
}

// judged is a rig with an item for every verdict.
func judged(t *testing.T, w *audit.Writer) *rig {
	t.Helper()
	items := map[mcpwire.Kind][]string{mcpwire.Tool: {"echo", "off", "denied"}, mcpwire.Resource: {"r://x"}, mcpwire.Template: {"t://{a}"}, mcpwire.Prompt: {"p"}}
	pins, others := pinsOf(t, "ns", items), pinsOf(t, "two", map[mcpwire.Kind][]string{mcpwire.Resource: {"r://x"}})
	for k := range pins {
		maps.Copy(pins[k], others[k])
	}
	list := func(line int, texts ...string) policy.List {
		l := policy.List{Line: line}
		for _, text := range texts {
			l.Entries = append(l.Entries, policy.Entry{Text: text, Line: line})
		}
		return l
	}
	rules := &policy.Rules{File: "tools.toml", Exposed: map[string]policy.List{
		"ns": list(3, "echo", "off", "held", "r://x", "t://*", "p"), "two": list(4, "r://x")}}
	p, err := rules.For("")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Policy: p, Pins: pins, Audit: w, Run: "run1", MetaTools: view.MetaTools{Toolsets: true}}
	return newRig(t, setup{active: []string{"ns_[!o]*", "two_*"}, Options: o, who: client.Info{Agent: "tester"}},
		offer{namespace: "ns", tools: append(items[mcpwire.Tool], "held"), resources: items[mcpwire.Resource], templates: items[mcpwire.Template], prompts: items[mcpwire.Prompt]},
		offer{namespace: "two", resources: []string{"r://x"}})
}

// answerAll has every server answer whatever it was asked.
func (g *rig) answerAll() {
	for _, l := range g.servers {
		for _, frame := range l.hears() {
			if m := scanned(g.t, frame); m.ID.Present() {
				l.says(reply(string(m.Bytes(m.ID)), "{}"))
			}
		}
	}
}

func TestEveryDecisionIsAudited(t *testing.T) {
	const (
		listed  = `exposed_tools.ns has %q (tools.toml:3)`
		missing = `it is not in exposed_tools.ns (tools.toml:3)`
	)
	rule := func(entry string) string { return fmt.Sprintf(listed, entry) }
	for _, tt := range []struct{ name, method, params, want string }{
		{"a call", "tools/call", `"name":"ns_echo","arguments":{}`, "tools/call ns tool ns_echo: allowed (" + rule("echo") + "), ok"},
		{"a call under another spelling", "tools/call", `"name":"mcp__ns__echo"`, "tools/call ns tool ns_echo: allowed (" + rule("echo") + "), ok"},
		{"a call through toolman_call", "tools/call", `"name":"toolman_call","arguments":{"name":"ns_echo"}`, "tools/call ns tool ns_echo: allowed (" + rule("echo") + "), ok"},
		{"an inactive tool", "tools/call", `"name":"ns_off"`, "tools/call ns tool ns_off: inactive (active_toolsets does not have it), refused"},
		{"an inactive tool through toolman_call", "tools/call", `"name":"toolman_call","arguments":{"name":"ns_off"}`, "tools/call ns tool ns_off: inactive (active_toolsets does not have it), refused"},
		{"a denied tool", "tools/call", `"name":"ns_denied"`, "tools/call ns tool ns_denied: denied (" + missing + "), refused"},
		{"a denied tool through toolman_call", "tools/call", `"name":"toolman_call","arguments":{"name":"denied"}`, "tools/call ns tool ns_denied: denied (" + missing + "), refused"},
		{"a tool that is held back", "tools/call", `"name":"ns_held"`, "tools/call ns tool ns_held: held (it is held back: it is not in the lock file), refused"},
		{"an unknown tool", "tools/call", `"name":"ns_what"`, "tools/call tool ns_what: unknown (), refused"},
		{"no name", "tools/call", `"arguments":{}`, "tools/call: invalid (), refused"},
		{"two names", "tools/call", `"name":"ns_echo","name":"ns_off"`, "tools/call: invalid (), refused"},
		{"a prompt", "prompts/get", `"name":"ns_p"`, "prompts/get ns prompt ns_p: allowed (" + rule("p") + "), ok"},
		{"an unknown prompt", "prompts/get", `"name":"q"`, "prompts/get prompt q: unknown (), refused"},
		{"a resource", "resources/read", `"uri":"ns_r://x"`, "resources/read ns resource ns_r://x: allowed (" + rule("r://x") + "), ok"},
		{"what a template makes", "resources/read", `"uri":"t://1"`, "resources/read ns resource t://1: allowed (" + rule("t://*") + "), ok"},
		{"a resource of two servers", "resources/read", `"uri":"r://x"`, "resources/read ns resource ns_r://x: ambiguous (" + rule("r://x") + "), refused"},
		{"the catalog", "resources/read", `"uri":"toolman://catalog"`, "resources/read toolman resource toolman://catalog: allowed (" + client.OwnRule + "), ok"},
		{"a subscription", "resources/subscribe", `"uri":"ns_r://x"`, "resources/subscribe ns resource ns_r://x: allowed (" + rule("r://x") + "), ok"},
		{"an unknown subscription", "resources/subscribe", `"uri":"z://"`, "resources/subscribe resource z://: unknown (), refused"},
		{"a completion", "completion/complete", `"ref":{"type":"ref/prompt","name":"ns_p"},"argument":{"name":"a","value":"b"}`, "completion/complete ns prompt ns_p: allowed (" + rule("p") + "), ok"},
		{"a completion of what is unknown", "completion/complete", `"ref":{"type":"ref/prompt","name":"q"},"argument":{"name":"a","value":"b"}`, "completion/complete prompt q: unknown (), refused"},
		{"an activation", "tools/call", `"name":"toolman_activate","arguments":{"tools_on":["ns_off"],"tools_off":[],"resources_on":[],"resources_off":[]}`,
			"tools/call toolman tool toolman_activate: allowed (" + client.OwnRule + "), ok"},
		{"an activation of what is denied", "tools/call", `"name":"toolman_activate","arguments":{"tools_on":["ns_denied"],"tools_off":[],"resources_on":[],"resources_off":[]}`,
			"tools/call toolman tool toolman_activate: allowed (" + client.OwnRule + "), refused"},
		{"a tool about toolsets", "tools/call", `"name":"list_tools","arguments":{}`, "tools/call toolman tool list_tools: allowed (" + client.OwnRule + "), ok"},
		{"one that cannot be done", "tools/call", `"name":"enable_toolset","arguments":{"name":"none"}`, "tools/call toolman tool enable_toolset: allowed (" + client.OwnRule + "), refused"},
		{"toolman_call without a name", "tools/call", `"name":"toolman_call","arguments":{}`, "tools/call toolman tool toolman_call: allowed (" + client.OwnRule + "), refused"},
		{"a list", "tools/list", ``, ""},
		{"a ping", "ping", ``, ""},
		{"what nobody knows", "x/y", ``, ""},
		{"a task", "tasks/get", `"taskId":"t"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, lines := auditTo(t)
			g := judged(t, w)
			g.client.says(`{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `","params":{` + tt.params + `}}`)
			g.answerAll()
			all := lines()
			if got := strings.Join(shortly(all), "\n"); got != tt.want {
				t.Errorf("got\n%s, want\n%s", got, tt.want)
			}
			for _, l := range all {
				if l.Agent != "tester" || l.Client != "rig" || l.Session != "run1" || l.Time.IsZero() {
					t.Errorf("got %+v", l)
				}
				if strings.Contains(tt.params, `"argument`) == (l.ArgumentsSHA256 == "") && !strings.Contains(tt.name, "toolman_call") {
					t.Errorf("the arguments of %s have the hash %q", tt.params, l.ArgumentsSHA256)
				}
			}
			if len(g.client.hears()) == 0 {
				t.Error("there is no answer")
			}
		})
	}
}

// What a modern client listens to is decided about resource by resource.
func TestListeningIsAudited(t *testing.T) {
	w, lines := auditTo(t)
	g := judged(t, w)
	g.servers[0].subscribable()
	g.client.says(modernCall("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["ns_r://x","z://","toolman://catalog","two_r://x"]}`, ""),
		modernCall("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["ns_r://x"]}`, ""))
	checkList(t, "audited", shortly(lines()),
		`subscriptions/listen ns resource ns_r://x: allowed (exposed_tools.ns has "r://x" (tools.toml:3)), ok`,
		`subscriptions/listen resource z://: unknown (), refused`,
		`subscriptions/listen toolman resource toolman://catalog: allowed (`+client.OwnRule+`), ok`,
		`subscriptions/listen two resource two_r://x: allowed (exposed_tools.two has "r://x" (tools.toml:4)), refused`,
		`subscriptions/listen: invalid (), refused`)
}

// outcomes plays what becomes of one call of ns_echo with the id 1, and returns how the
// audit log says that each call ended.
func outcomes(t *testing.T, change func(*offer), play func(g *rig, our string)) (all []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, lines := auditTo(t)
		o := various()
		change(&o)
		g := newRig(t, setup{active: []string{"*"}, Options: Options{Audit: w}}, o)
		play(g, open(g.client, g.servers[0], "1"))
		time.Sleep(time.Hour)
		synctest.Wait()
		for _, l := range lines() {
			all = append(all, fmt.Sprintf("%s %s %v", l.Verdict, l.Outcome, l.DurationMS))
		}
	})
	return all
}

func TestHowCallsEndIsAudited(t *testing.T) {
	second := func() { time.Sleep(time.Second) }
	says := func(g *rig, frames ...string) { g.servers[0].says(frames...) }
	for _, tt := range []struct {
		name   string
		change func(*offer)
		play   func(g *rig, our string)
		want   []string
	}{
		{"with a result", nil, func(g *rig, our string) {
			second()
			says(g, reply(our, "{}"), reply(our, "{}"))
		}, []string{"allowed ok 1000"}},
		{"with a failure of the tool", nil, func(g *rig, our string) { says(g, reply(our, `{"isError":true}`)) }, []string{"allowed tool_error 0"}},
		{"with an error", nil, func(g *rig, our string) { says(g, `{"jsonrpc":"2.0","id":`+our+`,"error":{"code":1,"message":"m"}}`) }, []string{"allowed rpc_error 0"}},
		{"with damage", nil, func(g *rig, our string) { says(g, `{"jsonrpc":"2.0","id":`+our+`,"result":{`) }, []string{"allowed failed 0"}},
		{"by its client", nil, func(g *rig, our string) {
			second()
			g.client.says(fmt.Sprintf(cancelFrame, "1"))
			says(g, reply(our, "{}"))
		}, []string{"allowed cancelled 1000"}},
		{"by its time", func(o *offer) { o.timeout = 5 * time.Second }, func(*rig, string) {}, []string{"allowed timeout 5000"}},
		{"with its server", nil, func(g *rig, _ string) { g.servers[0].dies() }, []string{"allowed gone 0"}},
		{"with toolman", nil, func(g *rig, _ string) { g.s.Abandon() }, []string{"allowed cancelled 0"}},
		{"with its session", nil, func(g *rig, _ string) { g.s.End() }, []string{"allowed cancelled 0"}},
		{"in a server that reads nothing", nil, func(g *rig, our string) {
			g.servers[0].refuses = fmt.Errorf("full")
			g.client.says(callNumber(2))
			says(g, reply(our, "{}"))
		}, []string{"allowed refused 0", "allowed ok 0"}},
		{"before its turn, by its client", func(o *offer) { o.most = 1 }, func(g *rig, our string) {
			g.client.says(callNumber(2), fmt.Sprintf(cancelFrame, "2"))
			says(g, reply(our, "{}"))
		}, []string{"allowed cancelled 0", "allowed ok 0"}},
		{"before its turn, by its time", func(o *offer) { o.most, o.timeout = 1, 5*time.Second }, func(g *rig, _ string) {
			g.client.says(callNumber(2))
		}, []string{"allowed timeout 5000", "allowed timeout 5000"}},
		{"before its turn, with its server", func(o *offer) { o.most = 1 }, func(g *rig, _ string) {
			g.client.says(callNumber(2))
			g.servers[0].dies()
		}, []string{"allowed gone 0", "allowed gone 0"}},
		{"before its turn, with its session", func(o *offer) { o.most = 1 }, func(g *rig, _ string) {
			g.client.says(callNumber(2))
			g.s.End()
		}, []string{"allowed cancelled 0", "allowed cancelled 0"}},
		{"after its turn", func(o *offer) { o.most = 1 }, func(g *rig, our string) {
			g.client.says(callNumber(2))
			second()
			says(g, reply(our, "{}"))
			second()
			g.answerAll()
		}, []string{"allowed ok 1000", "allowed ok 2000"}},
		{"with too many before it", func(o *offer) { o.most = 1 }, func(g *rig, _ string) {
			for i := range limiter.MaxQueued {
				g.client.says(callNumber(i + 2))
			}
			g.client.says(callNumber(-1))
			g.servers[0].u.Calls.TakeQueued(func(*calls.Call) bool { return true })
		}, []string{"busy refused 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.change == nil {
				tt.change = func(*offer) {}
			}
			checkList(t, "audited", outcomes(t, tt.change, tt.play), tt.want...)
		})
	}
}

// A call is one decision however often its client is asked, in both directions.
func TestACallDuringWhichItsClientIsAskedIsOneDecision(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(g *roundRig)
		want []string
	}{
		"answered": {func(g *roundRig) {
			g.client.says(reply(g.opened("1"), `{"roots":[]}`))
			g.server.says(reply(idOf(t, g.server.hearsOne()), `{"resultType":"complete"}`))
		}, []string{"allowed ok"}},
		"not answered": {func(g *roundRig) {
			g.client.says(`{"jsonrpc":"2.0","id":` + g.opened("1") + `,"error":{"code":1,"message":"m"}}`)
		}, []string{"allowed failed"}},
		"cancelled":       {func(g *roundRig) { g.opened("1"); g.client.says(fmt.Sprintf(cancelFrame, "1")) }, []string{"allowed cancelled"}},
		"dead meanwhile":  {func(g *roundRig) { g.opened("1"); g.server.dies() }, []string{"allowed gone"}},
		"ended meanwhile": {func(g *roundRig) { g.opened("1"); g.s.Abandon() }, []string{"allowed cancelled"}},
		"not to be asked": {func(g *roundRig) {
			g.requires(open(g.client, g.server, "1"), `"inputRequests":{"r":{"method":"no/such"}}`)
		}, []string{"allowed failed"}},
		"nonsense": {func(g *roundRig) {
			g.server.says(reply(open(g.client, g.server, "1"), `{"resultType":"strange"}`))
		}, []string{"allowed failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, lines := auditTo(t)
			g := newRoundRigWith(t, asksAll, func(*offer) {})
			g.s.Audit = w
			g.r.clock.EnableTiming()
			tt.play(g)
			checkEnds(t, lines(), tt.want...)
		})
	}
	for name, tt := range map[string]struct {
		play func(d *dialog, our, state string)
		want []string
	}{
		"answered": {func(d *dialog, our, state string) {
			d.retry("2", state, `{"0":{"action":"accept"}}`)
			d.server.says(reply(our, "{}"))
		}, []string{"allowed ok"}},
		"over before":  {func(d *dialog, our, state string) { d.server.says(reply(our, "{}")); d.retry("2", state, `{"0":{}}`) }, []string{"allowed ok"}},
		"dead before":  {func(d *dialog, _, state string) { d.server.dies(); d.retry("2", state, `{"0":{}}`) }, []string{"allowed gone", "unknown refused"}},
		"not awaited":  {func(d *dialog, _, _ string) { d.g.s.Closed(fmt.Errorf("gone")) }, []string{"allowed cancelled"}},
		"answered odd": {func(d *dialog, _, state string) { d.retry("2", `"`+strings.ToUpper(state[1:]), `{}`) }, []string{"invalid refused"}},
	} {
		t.Run("modern, "+name, func(t *testing.T) {
			w, lines := auditTo(t)
			d := newDialog(t)
			d.g.s.Audit = w
			d.g.r.clock.EnableTiming()
			our := d.call("1")
			tt.play(d, our, d.asked("1", elicit, "0", askedBy(elicits)))
			checkEnds(t, lines(), tt.want...)
		})
	}
}

func checkEnds(t *testing.T, lines []audit.Line, want ...string) {
	t.Helper()
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%s %s", l.Verdict, l.Outcome))
	}
	checkList(t, "audited", got, want...)
}

// A held reply, and one that its client does not want any more.
func TestActivationsThatWaitAreAudited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, lines := auditTo(t)
		g := newRig(t, setup{Options: Options{Audit: w, Settle: time.Second}}, various())
		g.client.says(activation{toolsOn: []string{"ns_echo"}}.frame("1"), activation{toolsOff: []string{"ns_echo"}}.frame("2"), fmt.Sprintf(cancelFrame, "2"))
		time.Sleep(time.Minute)
		synctest.Wait()
		checkEnds(t, lines(), "allowed cancelled", "allowed ok")
	})
}

// A stuckFile takes nothing, so that what is measured is what callers wait for.
type stuckFile struct{}

func (stuckFile) Write([]byte) (int, error) { select {} }

// BenchmarkAudited is BenchmarkForward's call of 100 bytes with an audit log: without the
// goroutine that writes it, and with that.
func BenchmarkAudited(bench *testing.B) {
	o := audit.Options{Lines: 1 << 30, Bytes: 1 << 40}
	for name, w := range map[string]*audit.Writer{"off": nil, "caller": audit.NewWriter(stuckFile{}, o), "all": audit.NewWriter(io.Discard, o)} {
		bench.Run(name, func(bench *testing.B) {
			s, u, _, server := joined(bench, "ns", echoTool)
			s.Audit = w
			if w != nil {
				s.Clock.EnableTiming()
			}
			text := strings.Repeat("x", 100)
			call := []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"ns_echo","arguments":{"text":"` + text + `"},"_meta":{"progressToken":3}}}`)
			var fromClient, fromServer reader
			var m jsonrpc.Message
			var reply []byte
			bench.ReportAllocs()
			for bench.Loop() {
				fromClient.deliver(bench, s, call)
				if err := jsonrpc.Scan(server.frame, &m); err != nil {
					bench.Fatal(err)
				}
				reply = jsonrpc.AppendResult(reply[:0], m.Bytes(m.ID), []byte(`{"content":[{"type":"text","text":"`+text+`"}]}`))
				fromServer.deliver(bench, u, reply)
			}
		})
	}
}
