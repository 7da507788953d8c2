package router

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/budget"
	"toolman/router/cache"
	"toolman/router/client"
)

const (
	readTool  = `{"name":"get_a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
	otherRead = `{"name":"list","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
	getTool   = `{"name":"get_c","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
	writeTool = `{"name":"get_b","inputSchema":{"type":"object"}}`
)

// keeping is a server whose results are kept for a minute.
func keeping(t testing.TB) offer {
	t.Helper()
	rule, err := cache.NewRule("get_*", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return offer{namespace: "a", tools: []string{readTool, otherRead, getTool, writeTool}, resources: []string{"r://x"}, cache: []cache.Rule{rule}}
}

// toolCall is a tools/call with parameters besides the name.
func toolCall(id, tool, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"a_` + tool + `"` + params + `}}`
}

// asked reports whether a call reaches the server, which then answers it with the result.
func asked(t testing.TB, from, server *link, call, result string) bool {
	t.Helper()
	from.says(call)
	heard := server.hears()
	if len(heard) == 0 {
		return false
	}
	server.says(`{"jsonrpc":"2.0","id":` + idOf(t, heard[0]) + `,` + result + `}`)
	return true
}

const oneResult = `"result":{ "content":[{"type":"text","text":"\u0041"}],"n":1.0 }`

func TestAResultIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, server := one(t, keeping(t))
		const arguments = `,"arguments":{"n":1.0,"t":"\u0041"}`
		if !asked(t, client, server, toolCall("1", "get_a", arguments), oneResult) {
			t.Fatal("the first call is answered from nowhere")
		}
		client.wants(`{"jsonrpc":"2.0","id":1,` + oneResult + `}`)
		for i, same := range []string{arguments, `,"arguments":{"t":"A", "n":1}`, arguments + `,"_meta":{"progressToken":5,"claudecode/toolUseId":"x"}`} {
			id := fmt.Sprintf(`"again %d"`, i)
			client.says(toolCall(id, "get_a", same))
			client.wants(`{"jsonrpc":"2.0","id":` + id + `,` + oneResult + `}`)
			server.wants()
		}
		for _, other := range []string{"", `,"arguments":{}`, `,"arguments":{"n":1,"t":"a"}`, arguments + `,"_meta":{"locale":"de"}`,
			`,"arguments":{"n":12345678901234567}`, `,"arguments":{"n":12345678901234568}`} {
			if !asked(t, client, server, toolCall("2", "get_a", other), oneResult) {
				t.Errorf("%s is answered with another result", other)
			}
			if asked(t, client, server, toolCall("2", "get_a", other), oneResult) {
				t.Errorf("the result of %s is not used again", other)
			}
		}
		if !asked(t, client, server, toolCall("2", "get_c", arguments), oneResult) {
			t.Error("a tool has the result of another one")
		}
		time.Sleep(time.Minute - 1)
		if asked(t, client, server, toolCall("3", "get_a", arguments), oneResult) {
			t.Error("the result is dropped too early")
		}
		time.Sleep(time.Nanosecond)
		if !asked(t, client, server, toolCall("3", "get_a", arguments), oneResult) {
			t.Error("the result is kept for too long")
		}
		for range 2 {
			if !asked(t, client, server, toolCall("4", "list", ""), oneResult) || !asked(t, client, server, toolCall("5", "get_b", ""), oneResult) {
				t.Error("the result of a tool is kept that no pattern matches, or that is not read-only")
			}
		}
	})
}

func TestTheShortestTimeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := keeping(t)
		for _, seconds := range []time.Duration{10, 20} {
			rule, _ := cache.NewRule("*a", seconds*time.Second)
			o.cache = append(o.cache, rule)
		}
		_, client, server := one(t, o)
		asked(t, client, server, toolCall("1", "get_a", ""), oneResult)
		time.Sleep(10*time.Second - 1)
		if asked(t, client, server, toolCall("1", "get_a", ""), oneResult) {
			t.Error("the result is dropped too early")
		}
		time.Sleep(time.Nanosecond)
		if !asked(t, client, server, toolCall("1", "get_a", ""), oneResult) {
			t.Error("the result is kept for too long")
		}
	})
}

func TestWhatIsNotKept(t *testing.T) {
	long := `"result":{"content":[],"text":"` + strings.Repeat("x", cache.MaxResult) + `"}`
	for name, result := range map[string]string{
		"an error":         `"error":{"code":1,"message":"no"}`,
		"a tool's error":   `"result":{"content":[],"isError":true}`,
		"no clear error":   `"result":{"content":[],"isError":"true"}`,
		"ambiguous":        `"result":{"content":[],"isError":false,"isError":true}`,
		"a task":           `"result":{"resultType":"task","taskId":"x"}`,
		"an unknown type":  `"result":{"resultType":"other"}`,
		"no object":        `"result":[]`,
		"a stale result":   `"result":{"content":[],"ttlMs":0}`,
		"no lifetime":      `"result":{"content":[],"ttlMs":"60000"}`,
		"a negative one":   `"result":{"content":[],"ttlMs":-1}`,
		"an endless one":   `"result":{"content":[],"ttlMs":9223372036854775807}`,
		"a long result":    long,
		"both":             `"result":{"content":[]},"error":{"code":1,"message":"no"}`,
		"a broken message": `"result":{"content":[]}},{`,
	} {
		t.Run(name, func(t *testing.T) {
			_, client, server := one(t, keeping(t))
			asked(t, client, server, toolCall("1", "get_a", ""), result)
			if !asked(t, client, server, toolCall("2", "get_a", ""), oneResult) {
				t.Error("it is used again")
			}
		})
	}
	for name, params := range map[string]string{
		"other parameters":  `,"requestState":"x"`,
		"a task":            `,"task":{"ttl":1}`,
		"ambiguous":         `,"arguments":{"a":1,"a":2}`,
		"long":              `,"arguments":{"a":"` + strings.Repeat("x", 64<<10) + `"}`,
		"numbers too large": `,"arguments":{"a":1e999}`,
		"no metadata":       `,"_meta":5`,
	} {
		t.Run(name, func(t *testing.T) {
			_, client, server := one(t, keeping(t))
			first := asked(t, client, server, toolCall("1", "get_a", params), oneResult)
			if first && !asked(t, client, server, toolCall("2", "get_a", params), oneResult) {
				t.Error("the result is used again")
			}
		})
	}
}

func TestTtlMsShortensTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, server := one(t, keeping(t))
		const result = `"result":{"content":[],"ttlMs":5}`
		asked(t, client, server, toolCall("1", "get_a", ""), result)
		time.Sleep(5*time.Millisecond - 1)
		if asked(t, client, server, toolCall("1", "get_a", ""), result) {
			t.Error("the result is dropped too early")
		}
		time.Sleep(time.Nanosecond)
		if !asked(t, client, server, toolCall("1", "get_a", ""), `"result":{"content":[],"ttlMs":600000}`) {
			t.Error("the result is kept for too long")
		}
		time.Sleep(time.Minute)
		if !asked(t, client, server, toolCall("1", "get_a", ""), result) {
			t.Error("the server makes the time longer")
		}
	})
}

func TestResultsBecomeInvalid(t *testing.T) {
	for name, change := range map[string]func(client, server *link){
		"a call of another tool": func(client, server *link) {
			asked(t, client, server, toolCall("9", "get_b", ""), oneResult)
		},
		"a call that is not answered": func(client, server *link) {
			client.says(toolCall("9", "get_b", ""))
		},
		"a call that is cancelled": func(client, server *link) {
			client.says(toolCall("9", "get_b", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
		},
		"changed tools": func(_, server *link) { server.says(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`) },
		"changed resources": func(_, server *link) {
			server.says(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
		},
		"a changed resource": func(_, server *link) {
			server.says(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"r://x"}}`)
		},
		"a task that goes on": func(_, server *link) {
			server.says(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"x","status":"working"}}`)
		},
		"a question": func(_, server *link) { server.says(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, client, server := one(t, keeping(t))
				server.converses()
				asked(t, client, server, toolCall("1", "get_a", ""), oneResult)
				change(client, server)
				server.hears()
				if !asked(t, client, server, toolCall("2", "get_a", ""), oneResult) {
					t.Error("an old result is used")
				}
				if asked(t, client, server, toolCall("3", "get_a", ""), oneResult) {
					t.Error("nothing is used any more")
				}
			})
		})
	}
}

// What a call has read while another one wrote is not used again.
func TestResultsOfCallsThatOverlapWithAChange(t *testing.T) {
	_, client, server := one(t, keeping(t))
	answer := func(frame string) { server.says(`{"jsonrpc":"2.0","id":` + idOf(t, frame) + `,` + oneResult + `}`) }
	client.says(toolCall("1", "get_a", ""))
	before := server.hearsOne()
	client.says(toolCall("2", "get_b", ""))
	write := server.hearsOne()
	answer(before)
	client.says(toolCall("3", "get_a", ""))
	during := server.hearsOne() // and not the result from before
	answer(during)
	answer(write)
	client.says(toolCall("4", "get_a", ""))
	answer(server.hearsOne())
	client.says(toolCall("5", "get_a", ""), toolCall("6", "get_b", ""))
	server.says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
	client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}`)
	write = server.hears()[0]
	client.says(toolCall("7", "get_a", ""))
	answer(server.hearsOne())
	answer(write) // it has written after all
	client.says(toolCall("8", "get_a", ""))
	server.hearsOne()
}

// A call that takes too long may have written shortly before it was given up.
func TestResultsOfCallsThatOverlapWithATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := keeping(t)
		o.timeout = 10 * time.Second
		_, client, server := one(t, o)
		client.says(toolCall("1", "get_b", ""))
		server.hearsOne()
		for range 2 {
			if !asked(t, client, server, toolCall("2", "get_a", ""), oneResult) {
				t.Error("an old result is used")
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			server.hears()
		}
		if asked(t, client, server, toolCall("3", "get_a", ""), oneResult) {
			t.Error("nothing is used any more")
		}
	})
}

func TestResultsBelongToTheirAgent(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, keeping(t))
	server := g.servers[0]
	session := func(who client.Info) *link {
		l := &link{t: t}
		l.handler = g.r.NewSession(l, who)
		l.initialize("{}")
		l.hears()
		server.hears()
		return l
	}
	alice := budget.Principal{Issuer: budget.Tokens, Subject: "1", Agent: "alice"}
	bob := budget.Principal{Issuer: budget.Tokens, Subject: "2", Agent: "bob"}
	first, again := session(client.Info{Agent: "alice", Principal: alice}), session(client.Info{Agent: "alice", Principal: alice})
	if !asked(t, first, server, toolCall("1", "get_a", ""), oneResult) {
		t.Fatal("the first call does not reach the server")
	}
	if asked(t, again, server, toolCall("1", "get_a", ""), oneResult) {
		t.Error("another session of the same agent asks again")
	}
	for name, who := range map[string]client.Info{"another agent": {Agent: "bob", Principal: bob}, "another agent with the same credential": {Agent: "carol", Principal: alice},
		"another credential": {Agent: "alice", Principal: bob}} {
		if !asked(t, session(who), server, toolCall("1", "get_a", ""), oneResult) {
			t.Errorf("%s gets the result", name)
		}
	}
}

// A tool that is no longer active has no results either.
func TestOnlyActiveToolsAreAnsweredFromTheCache(t *testing.T) {
	_, client, server := one(t, keeping(t))
	asked(t, client, server, toolCall("1", "get_a", ""), oneResult)
	client.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"toolman_activate","arguments":{"tools_on":[],"tools_off":["a_get_a"],"resources_on":[],"resources_off":[]}}}`)
	client.hears()
	if got := client.asks(toolCall("3", "get_a", "")); !strings.Contains(got, "is not active") {
		t.Errorf("got %s", got)
	}
}

// A result crosses the eras each time as it did the first time.
func TestACachedResultCrossesTheEras(t *testing.T) {
	for _, tt := range []struct {
		client, server bool // modern
		result, want   string
	}{
		{true, false, `"result":{"content":[ ],"z":1}`, `"result":{"resultType":"complete","content":[ ],"z":1}`},
		{false, true, `"result":{"resultType":"complete","content":[ ],"structuredContent":[1],"ttlMs":9000}`, `"result":{"content":[ ],"structuredContent":[1],"ttlMs":9000}`},
		{true, true, `"result":{"resultType":"complete","content":[ ]}`, `"result":{"resultType":"complete","content":[ ]}`},
	} {
		t.Run(fmt.Sprintf("client %t server %t", tt.client, tt.server), func(t *testing.T) {
			o := keeping(t)
			o.modern = tt.server
			g := newRig(t, setup{active: []string{"*"}, silent: tt.client}, o)
			server := g.servers[0]
			server.hears()
			for _, id := range []string{"1", `"second"`, "3"} {
				call := toolCall(id, "get_a", "")
				if tt.client {
					call = modernCall(id, "tools/call", `"name":"a_get_a"`, `,"progressToken":`+id)
				}
				g.client.hears()
				if asked(t, g.client, server, call, tt.result) != (id == "1") {
					t.Errorf("call %s reaches the server, or does not", id)
				}
				got := g.client.hears()
				if len(got) == 0 || !strings.Contains(got[0], `"id":`+id) || tt.server == tt.client && got[0] != `{"jsonrpc":"2.0","id":`+id+`,`+tt.want+`}` {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			}
		})
	}
}

// What a server has answered after it asked the user is not used again.
func TestAnswersOfTheUserAreNotUsedAgain(t *testing.T) {
	o := keeping(t)
	o.modern = true
	g := newRig(t, setup{active: []string{"*"}}, o)
	server := g.servers[0]
	server.hears()
	for range 2 {
		g.client.says(toolCall("1", "get_a", ""))
		server.says(`{"jsonrpc":"2.0","id":` + idOf(t, server.hearsOne()) + `,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}}`)
		g.client.says(`{"jsonrpc":"2.0","id":` + idOf(t, g.client.hearsOne()) + `,"result":{"action":"accept","content":{}}}`)
		server.says(`{"jsonrpc":"2.0","id":` + idOf(t, server.hearsOne()) + `,"result":{"resultType":"complete","content":[]}}`)
		if got := g.client.hearsOne(); !strings.Contains(got, `"id":1`) {
			t.Errorf("got %s", got)
		}
	}
}
