package router

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/policy"
)

// dangerous are options with which these names are dangerous tools.
func dangerous(t testing.TB, confirm policy.Confirm, names ...string) Options {
	t.Helper()
	d := policy.DangerRules{File: "tools.toml", Confirm: confirm}
	for i, name := range names {
		d.Tools = append(d.Tools, policy.Entry{Text: name, Line: 12 + i})
	}
	g, err := d.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Dangers: g}
}

// A cautious rig has a server ns whose tools echo and other are there; echo is dangerous.
type cautious struct {
	*rig
	client, server *link
}

func newCautious(t testing.TB, from setup, modern bool) *cautious {
	t.Helper()
	o := various()
	o.tools, o.modern = append(o.tools, "other"), modern
	from.Options, from.active = dangerous(t, policy.Elicit, "ns_echo"), []string{"*"}
	g := newRig(t, from, o)
	return &cautious{g, g.client, g.servers[0]}
}

const mayEcho = `"message":"toolman asks: may the tool echo of server ns run? It is one of dangerous_tools (tools.toml:12).\n\n`

// asked checks that the client is asked whether ns_echo may run, and returns the id of the
// question.
func (g *cautious) asked(arguments string) (id string) {
	g.t.Helper()
	got := g.client.hearsOne()
	id = idOf(g.t, got)
	want := `{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":{` + mayEcho + arguments + `","requestedSchema":{"type":"object","properties":{}}}}`
	if got != want {
		g.t.Fatalf("the client got\n%s, want\n%s", got, want)
	}
	g.server.wants()
	return id
}

// wantNotRun checks that a frame is the answer to id that says why the tool was not run.
func wantNotRun(t testing.TB, frame, id, why string) {
	t.Helper()
	text := "dangerous: asks first (tools.toml:12); tool ns_echo was not run: " + why
	if idOf(t, frame) != id || !strings.Contains(frame, `"isError":true`) || !strings.Contains(frame, strings.ReplaceAll(text, `"`, `\\\"`)) && !strings.Contains(frame, text) {
		t.Errorf("got %s, want for %s: %s", frame, id, text)
	}
}

const (
	withNothing = `It gets no arguments.`
	accept      = `{"action":"accept"}`
)

func TestADangerousToolRunsWhenAPersonAgrees(t *testing.T) {
	g := newCautious(t, setup{}, false)
	g.client.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_other","arguments":{}}}`)
	g.server.hearsOne() // is not dangerous

	g.client.says(`{"jsonrpc":"2.0","id":"\u0031","method":"tools/call","params":{"name":"ns_echo","arguments":{ "x":1.0, "y":"\u0041" },"_meta":{"progressToken":"p"}}}`)
	ask := g.asked(`It gets these arguments:\n  \"x\": 1.0\n  \"y\": \"A\"`)
	if n := g.s.Pending(); n != 2 {
		t.Errorf("%d requests are pending, want 2", n)
	}
	g.client.says(reply(ask, accept))
	got := g.server.hearsOne()
	our := idOf(t, got)
	if want := `{"jsonrpc":"2.0","id":` + our + `,"method":"tools/call","params":{"name":"echo","arguments":{ "x":1.0, "y":"\u0041" },"_meta":{"progressToken":` + our + `}}}`; got != want {
		t.Errorf("the server got\n%s, want\n%s", got, want)
	}
	g.client.says(reply(ask, accept)) // once is enough
	g.quiet()
	g.server.says(fmt.Sprintf(progressFrame, our), reply(our, `{"content":[ ]}`))
	g.client.wants(fmt.Sprintf(progressFrame, `"p"`), reply(`"\u0031"`, `{"content":[ ]}`))
}

func TestOnlyAPlainAcceptIsConsent(t *testing.T) {
	for _, tt := range []struct{ name, answer, why string }{
		{"declined", `"result":{"action":"decline"}`, "the person at the client declined"},
		{"cancelled", `"result":{"action":"cancel"}`, "the person at the client dismissed the question"},
		{"no action", `"result":{"content":{"action":"accept"}}`, "the client's answer is not consent"},
		{"another spelling", `"result":{"action":"Accept"}`, "the client's answer is not consent"},
		{"two actions", `"result":{"action":"decline","action":"accept"}`, "the client's answer is ambiguous"},
		{"an error", `"error":{"code":-32603,"message":"no\nscreen"}`, "a person has to agree first, and could not be asked: the client answered with an error: no screen"},
		{"no object", `"result":"accept"`, "a person has to agree first, and could not be asked: the client's answer is not an object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newCautious(t, setup{}, false)
			g.client.says(fmt.Sprintf(echo, "5", "{}"))
			g.client.says(`{"jsonrpc":"2.0","id":` + g.asked(withNothing) + `,` + tt.answer + `}`)
			wantNotRun(t, g.client.hearsOne(), "5", tt.why)
			g.quiet()
		})
	}
}

func TestAClientThatCannotAskIsRefused(t *testing.T) {
	g := newCautious(t, setup{capabilities: `{"elicitation":{"url":{}},"roots":{}}`}, false)
	got := g.client.asks(fmt.Sprintf(echo, "5", "{}"))
	wantNotRun(t, got, "5", `a person has to agree first, and the client cannot ask anybody: it has not declared the capability {"elicitation":{"form":{}}}`)
	g.quiet()
	g = newCautious(t, setup{silent: true}, false)
	g.client.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{}},"clientInfo":{"name":"a","version":"1"}}}`)
	g.client.hears()
	wantNotRun(t, g.client.asks(fmt.Sprintf(echo, "5", "{}")), "5", "a person has to agree first, and the client cannot ask anybody: that came with revision 2025-06-18")
	g.quiet()
}

// Not more than mostOpenRounds calls wait for people at once.
func TestTooManyQuestions(t *testing.T) {
	g := newCautious(t, setup{}, false)
	for i := range mostOpenRounds {
		g.client.says(fmt.Sprintf(echo, fmt.Sprint(i), "{}"))
	}
	asked := g.client.hears()
	if len(asked) != mostOpenRounds {
		t.Fatalf("%d questions", len(asked))
	}
	wantNotRun(t, g.client.asks(fmt.Sprintf(echo, "99", "{}")), "99", "a person has to agree first, and too many calls wait for answers already")
	g.client.says(reply(idOf(t, asked[0]), accept))
	g.server.hearsOne()
	g.client.says(fmt.Sprintf(echo, "100", "{}"))
	g.asked(withNothing)
}

// What a person would be shown has to be what the server reads.
func TestArgumentsThatCanBeReadInTwoWaysAreNotAskedAbout(t *testing.T) {
	for _, twice := range []string{`"arguments":{"path":"/a"},"arguments":{"path":"/b"}`, `"arguments":{},"Arguments":{}`} {
		for _, modern := range []bool{false, true} {
			g := newCautious(t, setup{}, false)
			call := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ns_echo",` + twice + `}}`
			if modern {
				call = modernCall("5", "tools/call", `"name":"ns_echo",`+twice, "")
			}
			if got := g.client.asks(call); !strings.Contains(got, "arguments") || !strings.Contains(got, `"isError":true`) {
				t.Errorf("got %s", got)
			}
			g.quiet()
		}
	}
}

func TestTheQuestionEndsWithTheCall(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(g *cautious, ask string)
	}{
		{"the client cancels it", func(g *cautious, ask string) {
			g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
			g.client.wants(takenBack(ask, over))
		}},
		{"the server ends", func(g *cautious, ask string) {
			g.server.dies()
			got := g.client.hears()
			if len(got) < 2 || !strings.Contains(strings.Join(got, ""), "server ns is gone") || !strings.Contains(strings.Join(got, ""), `"requestId":`+ask) {
				t.Errorf("the client got %q", got)
			}
		}},
		{"the client is gone", func(g *cautious, ask string) {
			g.s.Closed(io.EOF)
			wantNotRun(t, g.client.hearsOne(), "5", "a person has to agree first, and could not be asked: the client is gone")
		}},
		{"toolman ends", func(g *cautious, ask string) {
			g.s.Abandon()
			got := g.client.hears()
			if len(got) != 2 || got[0] != takenBack(ask, over) || !strings.Contains(got[1], "toolman is ending") {
				t.Errorf("the client got %q", got)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newCautious(t, setup{}, false)
			g.client.says(fmt.Sprintf(echo, "5", "{}"))
			ask := g.asked(withNothing)
			tt.ends(g, ask)
			g.client.says(reply(ask, accept))
			g.quiet()
			if n := g.s.Pending(); n != 0 {
				t.Errorf("%d requests are pending", n)
			}
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newCautious(t, setup{}, false)
		g.client.says(fmt.Sprintf(echo, "5", "{}"))
		ask := g.asked(withNothing)
		time.Sleep(roundTimeout - 1)
		synctest.Wait()
		g.quiet()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		got := g.client.hears()
		if len(got) != 2 || got[0] != takenBack(ask, over) {
			t.Fatalf("the client got %q", got)
		}
		wantNotRun(t, got[1], "5", "a person has to agree first, and has not answered within 10m0s")
		g.client.says(reply(ask, accept))
		g.quiet()
	})
}

// A person has agreed to what there was when they were asked.
func TestWhatChangesWhileAPersonThinksIsNotRun(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		change     func(g *cautious)
	}{
		{"the tool is switched off", "is not active", func(g *cautious) {
			g.client.says(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"toolman_activate","arguments":{"tools_on":[],"tools_off":["ns_echo"],"resources_on":[],"resources_off":[]}}}`)
		}},
		{"the tool is gone", "unknown tool ns_echo", func(g *cautious) {
			g.server.lists(0, "other")
			g.r.update()
		}},
		{"the tool is another", "it was changed by its server while a person was asked", func(g *cautious) {
			g.server.lists(0, `{"name":"echo","description":"harmless, really"}`, "other")
			g.r.update()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newCautious(t, setup{}, false)
			g.client.says(fmt.Sprintf(echo, "5", "{}"))
			ask := g.asked(withNothing)
			tt.change(g)
			g.client.hears()
			g.client.says(reply(ask, accept))
			if got := g.client.hearsOne(); idOf(t, got) != "5" || !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			g.server.wants()
		})
	}
	g := newCautious(t, setup{}, false)
	g.client.says(fmt.Sprintf(echo, "5", "{}"))
	ask := g.asked(withNothing)
	g.server.lists(0, "other", "echo") // listed anew, and the same
	g.r.update()
	g.client.hears()
	g.client.says(reply(ask, accept))
	g.server.hearsOne()
}

func TestEveryRoadToADangerousToolAsks(t *testing.T) {
	for _, params := range []string{`"name":"ns:echo","arguments":{"x":1}`, `"name":"mcp__ns__echo","arguments":{"x":1}`, `"name":"echo","arguments":{"x":1}`,
		`"name":"toolman_call","arguments":{"name":"ns_echo","arguments":{"x":1}}`, `"name":"toolman_call","arguments":{"arguments":{"x":1},"name":"echo"}`,
		`"task":{"ttl":1},"name":"ns_echo","arguments":{"x":1}`} {
		g := newCautious(t, setup{}, false)
		g.client.says(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{` + params + `}}`)
		g.client.says(reply(g.asked(`It gets these arguments:\n  \"x\": 1`), accept))
		if got := g.server.hearsOne(); !strings.Contains(got, `"name":"echo","arguments":{"x":1}`) {
			t.Errorf("%s: the server got %s", params, got)
		}
	}
}

// A tool that nobody may call is nowhere, and whoever has its name is told why.
func TestDeniedDangers(t *testing.T) {
	g := newRig(t, setup{Options: dangerous(t, policy.Deny, "ns_echo"), active: []string{"*"}}, various())
	const why = "dangerous: refused (tools.toml:12)"
	if got := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); strings.Contains(got, "ns_echo") {
		t.Errorf("listed: %s", got)
	}
	x := g.r.Explain("ns_echo")
	if len(x) != 1 || x[0].Visible || x[0].Callable || x[0].Rule != why {
		t.Fatalf("explained as %+v", x)
	}
	for _, params := range []string{`"name":"ns_echo","arguments":{}`, `"name":"echo"`, `"name":"toolman_call","arguments":{"name":"ns:echo"}`} {
		want := x[0].Error
		if params == `"name":"echo"` {
			want = strings.Replace(want, "ns_echo", "echo", 1) // not the server, which it does not name
		}
		if got := g.client.asks(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{` + params + `}}`); !strings.Contains(got, want) || !strings.Contains(got, why) {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
	got := g.client.asks(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"toolman_activate","arguments":{"tools_on":["ns_echo"],"tools_off":[],"resources_on":[],"resources_off":[]}}}`)
	if !strings.Contains(got, "ns_echo") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("activated: %s", got)
	}
	g.servers[0].wants()
}

func TestAllowedDangersRun(t *testing.T) {
	g := newRig(t, setup{Options: dangerous(t, policy.Allow, "ns_echo"), active: []string{"*"}}, various())
	open(g.client, g.servers[0], "1")
	x := g.r.Explain("ns_echo")
	if len(x) != 1 || !x[0].Callable || x[0].Danger != "dangerous: runs without asking (tools.toml:12)" {
		t.Errorf("explained as %+v", x)
	}
}

func TestExplainSaysWhatTheRefusalSays(t *testing.T) {
	g := newCautious(t, setup{}, false)
	x := g.r.Explain("ns_echo")
	if len(x) != 1 || !x[0].Callable || x[0].Danger != "dangerous: asks first (tools.toml:12)" {
		t.Errorf("explained as %+v", x)
	}
	if x := g.r.Explain("ns_other"); len(x) != 1 || x[0].Danger != "" {
		t.Errorf("a harmless tool is explained as %+v", x)
	}
}
