package router

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/client"
)

// A roundRig is a legacy client in front of a modern server.
type roundRig struct {
	*rig
	client, server *link
	claim          string // what the server is told of the client
}

const asksAll = `{"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"roots":{}}`

func newRoundRig(t testing.TB, capabilities string) *roundRig {
	t.Helper()
	return newRoundRigWith(t, capabilities, func(*offer) {})
}

func newRoundRigWith(t testing.TB, capabilities string, change func(*offer)) *roundRig {
	t.Helper()
	o := various()
	o.modern = true
	change(&o)
	g := newRig(t, setup{active: []string{"*"}, capabilities: capabilities}, o)
	return &roundRig{g, g.client, g.servers[0], `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` +
		capabilities + `,"io.modelcontextprotocol/clientInfo":{"name":"rig","version":"1"}}`}
}

// requires has the server answer that it needs input.
func (g *roundRig) requires(id, members string) {
	g.server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required",` + members + `}}`)
}

// retried is the frame of a call to ns_echo that was made again with these members.
func (g *roundRig) retried(id, members string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + members + g.claim + `,"name":"echo","arguments":{}}}`
}

// opened has the client call ns_echo and the server ask for its roots, and returns the
// id of what the client is asked.
func (g *roundRig) opened(id string) (ask string) {
	g.t.Helper()
	g.requires(open(g.client, g.server, id), `"inputRequests":{"r":{"method":"roots/list"}},"requestState":"s"`)
	return idOf(g.t, g.client.hearsOne())
}

func reply(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func takenBack(id, reason string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"` + reason + `"}}`
}

const over = "the call that this was asked for is over"

func TestWhatAModernServerNeedsIsAskedOfALegacyClient(t *testing.T) {
	g := newRoundRig(t, asksAll)
	g.client.says(`{"jsonrpc":"2.0","id":"\u0031","method":"tools/call","params":{"name":"ns_echo","arguments":{ "x":1.0 },"_meta":{"progressToken":"p"}}}`)
	first := idOf(t, g.server.hearsOne())
	g.requires(first, `"inputRequests":{"user name":{"method":"elicitation/create","params":{"mode":"form","message":"\u003f"}},`+
		`"l\"lm":{"params":{"maxTokens":1e2,"tools":[]},"method":"sampling/createMessage"},"":{"method":"roots/list"}},"requestState":"\u006fpaque"`)
	asked := g.client.hears()
	if len(asked) != 3 {
		t.Fatalf("the client is asked %q", asked)
	}
	form, llm, roots := idOf(t, asked[0]), idOf(t, asked[1]), idOf(t, asked[2])
	checkList(t, "asked", asked,
		`{"jsonrpc":"2.0","id":`+form+`,"method":"elicitation/create","params":{"mode":"form","message":"Server ns asks: \u003f"}}`,
		`{"jsonrpc":"2.0","id":`+llm+`,"method":"sampling/createMessage","params":{"maxTokens":1e2,"tools":[]}}`,
		`{"jsonrpc":"2.0","id":`+roots+`,"method":"roots/list"}`)

	g.client.says(reply(roots, `{"roots":[ ]}`), `{"jsonrpc":"2.0","error":null,"result":{"model":"m\u0031"},"id":`+llm+`}`)
	g.server.says(fmt.Sprintf(progressFrame, first)) // of a call that has its answer
	g.quiet()
	g.client.says(reply(form, `{"action":"decline"}`))
	again := g.server.hearsOne()
	second := idOf(t, again)
	if second == first {
		t.Error("the call is made again under its id")
	}
	want := `{"jsonrpc":"2.0","id":` + second + `,"method":"tools/call","params":{"inputResponses":{"user name":{"action":"decline"},"l\"lm":{"model":"m\u0031"},"":{"roots":[ ]}},` +
		`"requestState":"\u006fpaque","name":"echo","arguments":{ "x":1.0 },` + strings.TrimSuffix(g.claim, "}") + `,"progressToken":` + second + `}}}`
	if again != want {
		t.Errorf("again\ngot  %s\nwant %s", again, want)
	}
	g.server.says(fmt.Sprintf(progressFrame, second), fmt.Sprintf(progressFrame, first))
	g.client.wants(fmt.Sprintf(progressFrame, `"p"`))
	g.server.says(reply(first, `{"late":1}`), reply(second, `{"resultType":"complete","content":[]}`), reply(second, `{"twice":1}`))
	g.client.wants(reply(`"\u0031"`, `{"content":[]}`))
	g.client.says(reply(form, `{}`), reply(roots, `{}`))
	g.quiet()
}

// What an earlier round brought is not sent again, and a state that is not given is
// not made up.
func TestEachRoundStandsForItself(t *testing.T) {
	g := newRoundRig(t, asksAll)
	ask := g.opened("1")
	g.client.says(reply(ask, `{"roots":[]}`))
	again := g.server.hearsOne()
	g.requires(idOf(t, again), `"inputRequests":{"e":{"method":"elicitation/create","params":{"mode":"url","url":"https://x","message":"m"}}}`)
	url := g.client.hearsOne()
	ask = idOf(t, url)
	if want := `{"jsonrpc":"2.0","id":` + ask + `,"method":"elicitation/create","params":{"elicitationId":"toolman-` + ask + `","mode":"url","url":"https://x","message":"Server ns asks: m"}}`; url != want {
		t.Errorf("got  %s\nwant %s", url, want)
	}
	g.client.says(reply(ask, `{"action":"accept"}`))
	last := g.server.hearsOne()
	id := idOf(t, last)
	if want := g.retried(id, `"inputResponses":{"e":{"action":"accept"}},`); last != want {
		t.Errorf("got  %s\nwant %s", last, want)
	}
	g.server.says(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"no"}}`)
	g.client.wants(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`)
}

func TestPromptsAndResourcesTakeInputToo(t *testing.T) {
	for _, tt := range []struct{ method, params, sent string }{
		{"prompts/get", `"name":"ns_p"`, `"name":"p"`},
		{"resources/read", `"uri":"ns_t://1"`, `"uri":"t://1"`},
	} {
		g := newRoundRig(t, asksAll)
		g.client.says(`{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `","params":{` + tt.params + `}}`)
		g.requires(idOf(t, g.server.hearsOne()), `"inputRequests":{"r":{"method":"roots/list"}}`)
		g.client.says(reply(idOf(t, g.client.hearsOne()), `{"roots":[]}`))
		again := g.server.hearsOne()
		if want := `{"jsonrpc":"2.0","id":` + idOf(t, again) + `,"method":"` + tt.method + `","params":{"inputResponses":{"r":{"roots":[]}},` + g.claim + `,` + tt.sent + `}}`; again != want {
			t.Errorf("got  %s\nwant %s", again, want)
		}
	}
}

// Nothing is asked when not all can be.
func TestARoundThatTheClientCannotGoDoesNotBegin(t *testing.T) {
	const roots = `"r":{"method":"roots/list"},`
	for _, tt := range []struct{ name, version, capabilities, request, says string }{
		{"no elicitation", "2025-11-25", `{"roots":{}}`, `{"method":"elicitation/create","params":{"message":"m"}}`,
			`server ns needs elicitation/create of the client for this, but the client has not declared the capability {"elicitation":{}}`},
		{"no URLs", "2025-11-25", `{"roots":{},"elicitation":{"form":{}}}`, `{"method":"elicitation/create","params":{"mode":"url","message":"m"}}`,
			`server ns needs elicitation/create of the client for this, but the client has not declared the capability {"elicitation":{"url":{}}}`},
		{"no sampling", "2025-11-25", `{"roots":{}}`, `{"method":"sampling/createMessage","params":{}}`,
			`server ns needs sampling/createMessage of the client for this, but the client has not declared the capability {"sampling":{}}`},
		{"no tools in sampling", "2025-11-25", `{"roots":{},"sampling":{}}`, `{"method":"sampling/createMessage","params":{"tools":[]}}`,
			`server ns needs sampling/createMessage of the client for this, but the client has not declared the capability {"sampling":{"tools":{}}}`},
		{"no roots", "2025-11-25", `{"sampling":{}}`, `{"method":"sampling/createMessage","params":{}}`,
			`server ns needs roots/list of the client for this, but the client has not declared the capability {"roots":{}}`},
		{"before elicitation", "2025-03-26", asksAll, `{"method":"elicitation/create","params":{"message":"m"}}`,
			`server ns needs elicitation/create of the client for this, in a form that came with revision 2025-06-18; the client speaks 2025-03-26`},
		{"before URLs", "2025-06-18", asksAll, `{"method":"elicitation/create","params":{"mode":"url","message":"m"}}`,
			`server ns needs elicitation/create of the client for this, in a form that came with revision 2025-11-25; the client speaks 2025-06-18`},
		{"before tools in sampling", "2025-06-18", asksAll, `{"method":"sampling/createMessage","params":{"toolChoice":{}}}`,
			`server ns needs sampling/createMessage of the client for this, in a form that came with revision 2025-11-25; the client speaks 2025-06-18`},
		{"a method of no client", "2025-11-25", asksAll, `{"method":"tasks/list"}`,
			`server ns answered in a form that could not be passed on: an input request that is neither sampling/createMessage nor elicitation/create nor roots/list`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newRoundRig(t, tt.capabilities)
			g.s.Peer.Hello.Version = tt.version
			for method, params := range map[mcpwire.Method]string{mcpwire.ToolsCall: `"name":"ns_echo"`, mcpwire.PromptsGet: `"name":"ns_p"`, mcpwire.ResourcesRead: `"uri":"ns_r://x"`} {
				g.client.says(`{"jsonrpc":"2.0","id":1,"method":"` + string(method) + `","params":{` + params + `}}`)
				g.requires(idOf(t, g.server.hearsOne()), `"inputRequests":{`+roots+`"x":`+tt.request+`}`)
				frame := g.client.hearsOne()
				if got := refusalOf(t, frame, method, -32603); got != tt.says || idOf(t, frame) != "1" {
					t.Errorf("%s: got %s", method, frame)
				}
			}
			g.quiet()
			if g.s.Pending() != 0 {
				t.Error("something is left")
			}
		})
	}
}

// Elicitation by form came with 2025-06-18, the rest of it is what a client of 2024
// knows.
func TestOldClientsAreAskedWhatTheyKnow(t *testing.T) {
	for version, request := range map[string]string{"2024-11-05": `{"method":"sampling/createMessage","params":{}}`, "2025-03-26": `{"method":"roots/list"}`, "2025-06-18": `{"method":"elicitation/create","params":{"mode":"form","message":"m"}}`} {
		g := newRoundRig(t, asksAll)
		g.s.Peer.Hello.Version = version
		g.requires(open(g.client, g.server, "1"), `"inputRequests":{"x":`+request+`}`)
		if asked := g.client.hearsOne(); scanned(t, asked).Kind != jsonrpc.Request {
			t.Errorf("%s: got %s", version, asked)
		}
	}
}

func TestARoundEndsWithTheFirstLegThatGetsNoAnswer(t *testing.T) {
	for _, tt := range []struct{ name, answer, says string }{
		{"an error", `{"jsonrpc":"2.0","id":#,"error":{"code":-1,"message":"User rejected\u0007it"}}`, "the client answered with an error: User rejected it"},
		{"no object", `{"jsonrpc":"2.0","id":#,"result":null}`, "the client's answer is not an object"},
		{"damaged", `{"jsonrpc":"2.0","id":#,"result":{`, "the client's answer could not be passed on: not valid JSON at byte "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newRoundRig(t, asksAll)
			g.requires(open(g.client, g.server, "1"), `"inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{"message":"m"}},"c":{"method":"roots/list"}}`)
			asked := g.client.hears()
			g.client.says(reply(idOf(t, asked[0]), `{}`), strings.Replace(tt.answer, "#", idOf(t, asked[1]), 1))
			heard := g.client.hears()
			if len(heard) != 2 || heard[0] != takenBack(idOf(t, asked[2]), over) || idOf(t, heard[1]) != "1" {
				t.Fatalf("got %q", heard)
			}
			if got, want := refusalOf(t, heard[1], mcpwire.ToolsCall, 0), "server ns needs elicitation/create of the client for this, which could not be had: "+tt.says; !strings.HasPrefix(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			g.client.says(reply(idOf(t, asked[2]), `{}`), reply(idOf(t, asked[1]), `{}`))
			g.quiet()
		})
	}
}

// A server gets nothing of what the client tells about a leg: there is no token for it.
func TestProgressOfALegIsDropped(t *testing.T) {
	g := newRoundRig(t, asksAll)
	ask := g.opened("1")
	g.client.says(fmt.Sprintf(progressFrame, ask))
	g.server.says(fmt.Sprintf(cancelFrame, ask), fmt.Sprintf(cancelFrame, `""`)) // it has asked nothing under an id
	g.quiet()
}

func TestACallCanBeCancelledWhileTheClientIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRoundRig(t, asksAll)
		g.requires(open(g.client, g.server, "1"), `"inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}`)
		asked := g.client.hears()
		g.client.says(reply(idOf(t, asked[0]), `{}`), fmt.Sprintf(cancelFrame, `"1"`))
		g.quiet()
		g.client.says(fmt.Sprintf(cancelFrame, `1`))
		g.client.wants(takenBack(idOf(t, asked[1]), over))
		g.client.says(reply(idOf(t, asked[1]), `{}`), fmt.Sprintf(cancelFrame, `1`))

		g.requires(open(g.client, g.server, "2"), `"requestState":"s"`)
		g.client.says(fmt.Sprintf(cancelFrame, `2`))
		time.Sleep(time.Hour)
		synctest.Wait()
		g.quiet() // and nothing is called again

		ask := g.opened("3")
		g.client.says(reply(ask, `{}`))
		again := idOf(t, g.server.hearsOne())
		g.client.says(fmt.Sprintf(cancelFrame, `3`))
		g.server.wants(fmt.Sprintf(cancelFrame, again))
	})
}

func TestACallForWhichNothingIsAskedIsMadeAgainAfterAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRoundRig(t, `{}`)
		g.requires(open(g.client, g.server, "1"), `"requestState":""`)
		time.Sleep(roundPause - 1)
		synctest.Wait()
		g.quiet()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		again := g.server.hearsOne()
		if want := g.retried(idOf(t, again), `"requestState":"",`); again != want {
			t.Errorf("got  %s\nwant %s", again, want)
		}
	})
}

func TestAClientThatDoesNotAnswerIsNotWaitedForLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRoundRig(t, asksAll)
		ask := g.opened("1")
		time.Sleep(roundTimeout - 1)
		synctest.Wait()
		g.quiet()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		g.client.wants(takenBack(ask, over), failed("1", "server ns needs input of the client for this, and the client has not answered within 10m0s"))
		g.client.says(reply(ask, `{}`))
		g.quiet()
	})
}

// The time that a server has for an answer does not run while the client is asked.
func TestARoundIsNotTheServersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := various()
		o.modern, o.timeout = true, 10*time.Second
		_, client, server := one(t, o)
		server.says(reply(open(client, server, "1"), `{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}`))
		ask := idOf(t, client.hearsOne())
		time.Sleep(time.Minute)
		synctest.Wait()
		client.wants()
		client.says(reply(ask, `{}`))
		again := idOf(t, server.hearsOne())
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		client.wants()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		checkGivenUp(t, client, server, "1", again)
	})
}

func TestRoundsAreBounded(t *testing.T) {
	const full = "server ns needs input of the client for this, but too many calls wait for input already; answer those first and call again"
	t.Run("of one call", func(t *testing.T) {
		g := newRoundRig(t, asksAll)
		id := open(g.client, g.server, "1")
		for range mostRounds {
			g.requires(id, `"inputRequests":{"r":{"method":"roots/list"}}`)
			g.client.says(reply(idOf(t, g.client.hearsOne()), `{}`))
			id = idOf(t, g.server.hearsOne())
		}
		g.requires(id, `"inputRequests":{"r":{"method":"roots/list"}}`)
		g.client.wants(failed("1", "server ns has asked for input 10 times during this call and requests more; toolman allows no more"))
		g.quiet()
	})
	t.Run("at once", func(t *testing.T) {
		g := newRoundRig(t, asksAll)
		var asks []string
		for i := range mostOpenRounds {
			asks = append(asks, g.opened(fmt.Sprint(i)))
		}
		g.requires(open(g.client, g.server, `"more"`), `"requestState":"s"`)
		g.client.wants(failed(`"more"`, full))
		g.client.says(reply(asks[7], `{}`))
		g.server.hears()
		g.opened(`"now"`)
	})
	t.Run("in bytes", func(t *testing.T) {
		g := newRoundRig(t, asksAll)
		const legs = 16
		var requests []string
		for i := range legs {
			requests = append(requests, fmt.Sprintf(`"%d":{"method":"roots/list"}`, i))
		}
		g.requires(open(g.client, g.server, "1"), `"inputRequests":{`+strings.Join(requests, ",")+`}`)
		asked := g.client.hears()
		long := `{"x":"` + strings.Repeat("x", client.MaxWaitingBytes/(legs-2)) + `"}`
		for _, ask := range asked[:legs-3] {
			g.client.says(reply(idOf(t, ask), long))
		}
		g.quiet()
		g.requires(open(g.client, g.server, "2"), `"requestState":`+long[len(`{"x":`):len(long)-1])
		g.client.wants(failed("2", full))
		g.client.says(reply(idOf(t, asked[legs-3]), long))
		g.client.wants(takenBack(idOf(t, asked[legs-2]), over), takenBack(idOf(t, asked[legs-1]), over),
			failed("1", "server ns needs roots/list of the client for this, which could not be had: the client's answers are too long to store"))
	})
}

func TestRoundsEndWithWhoeverIsGone(t *testing.T) {
	const stateOnly = `"requestState":"s"`
	t.Run("the server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRoundRig(t, asksAll)
			ask := g.opened("1")
			g.requires(open(g.client, g.server, "2"), stateOnly)
			g.server.dies()
			gone := g.server.u.GoneText()
			heard := g.client.hears()
			checkList(t, "heard", heard[:min(3, len(heard))], takenBack(ask, "the server has disconnected"), failed("1", gone), failed("2", gone))
			g.client.says(reply(ask, `{}`))
			time.Sleep(time.Hour)
			synctest.Wait()
			g.quiet()
		})
	})
	t.Run("a server that does not read", func(t *testing.T) {
		g := newRoundRig(t, asksAll)
		ask := g.opened("1")
		g.server.refuses = jsonrpc.ErrQueueFull
		g.client.says(reply(ask, `{}`))
		g.client.wants(failed("1", unreadBy(g.server.u)))
	})
	t.Run("the client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRoundRig(t, asksAll)
			g.opened("1")
			g.requires(open(g.client, g.server, "2"), stateOnly)
			third := open(g.client, g.server, "3")
			if n := g.s.Pending(); n != 3 {
				t.Errorf("%d pending, want 3", n)
			}
			g.s.Closed(io.EOF)
			const gone = "server ns needs roots/list of the client for this, which could not be had: the client is gone"
			g.client.wants(failed("1", gone))
			g.requires(third, `"inputRequests":{"r":{"method":"roots/list"},"q":{"method":"roots/list"}}`)
			g.client.wants(failed("3", gone))
			time.Sleep(time.Second)
			synctest.Wait()
			g.server.says(reply(idOf(t, g.server.hearsOne()), `{"resultType":"complete"}`)) // what needs nothing of the client goes on
			g.client.wants(reply("2", `{}`))
			if n := g.s.Pending(); n != 0 {
				t.Errorf("%d pending, want 0", n)
			}
		})
	})
	t.Run("toolman", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRoundRig(t, asksAll)
			g.requires(open(g.client, g.server, "2"), stateOnly)
			g.s.Closed(io.EOF)
			g.s.Abandon()
			g.client.wants(failed("2", "toolman is ending because its client closed the connection; this was not answered in time"))
			time.Sleep(time.Hour)
			synctest.Wait()
			g.quiet()
			if n := g.s.Pending(); n != 0 {
				t.Errorf("%d pending, want 0", n)
			}
		})
	})
}

// Input is not for every method.
func TestOtherRequestsHaveNoRounds(t *testing.T) {
	g := newRoundRig(t, asksAll)
	g.client.says(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"ns_p"},"argument":{}}}`)
	g.requires(idOf(t, g.server.hearsOne()), `"inputRequests":{"r":{"method":"roots/list"}}`)
	if got := refusalOf(t, g.client.hearsOne(), mcpwire.Complete, -32603); !strings.HasSuffix(got, "it requests input, which is not allowed for this method") {
		t.Errorf("got %q", got)
	}
	g.quiet()
}
