package router

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/client"
	"toolman/router/metatool"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/router/view"
)

func TestTheLogTellsTheBeginningOfALongName(t *testing.T) {
	g := newRig(t, setup{silent: true})
	core, logs := observer.New(zap.InfoLevel)
	g.s.Log = zap.New(core)
	long := strings.Repeat("n", 1000)
	g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` + long + `","version":"` + long + `"}}}`)
	const want = 2*catalog.NameLimit + 1
	if all := logs.FilterMessage("client connected").All(); len(all) != 1 || len(all[0].ContextMap()["session"].(string)) != want {
		t.Errorf("logged %v, want a name of %d bytes", all, want)
	}
}

func TestInitialize(t *testing.T) {
	for asked, want := range map[string]string{"2025-11-25": "2025-11-25", "2024-11-05": "2024-11-05", "2099-01-01": "2025-11-25"} {
		g := newRig(t, setup{silent: true, Options: Options{Version: "1.2"}}, offer{namespace: "a", starting: true})
		frame := g.client.asks(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"` + asked + `","capabilities":{"roots":{}},"clientInfo":{"name":"me","version":"3"}}}`)
		if want := `{"jsonrpc":"2.0","id":"i","result":` + string(mcpwire.AppendInitializeResult(nil, want, "1.2", metatool.Instructions(view.ModeMutate, view.MetaTools{}))) + `}`; frame != want {
			t.Errorf("got  %s\nwant %s", frame, want)
		}
		select {
		case <-g.r.env.FirstClient.Done:
		default:
			t.Fatal("the handshakes with the servers do not begin")
		}
		if h := g.r.env.FirstClient.Hello; string(h.Relayed()) != `{"roots":{}}` || string(h.Info) != `{"name":"me","version":"3"}` {
			t.Errorf("the servers are told %+v", h)
		}
		if g.s.Name() != "me" {
			t.Errorf("the client is called %q", g.s.Name())
		}
		frame = g.client.asks(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"` + asked + `"}}`)
		if got := refusalOf(t, frame, mcpwire.Initialize, -32600); got != "initialize was already answered; start a new connection to begin again" {
			t.Errorf("again: %s", got)
		}
	}
}

func TestInitializeThatSaysTooLittleIsRefused(t *testing.T) {
	for params, says := range map[string]string{
		``:                        "initialize needs params.protocolVersion",
		`{}`:                      "initialize needs params.protocolVersion",
		`["2025-11-25"]`:          "initialize needs params.protocolVersion",
		`{"protocolVersion":1}`:   "initialize needs params.protocolVersion",
		`{"ProtocolVersion":"x"}`: `in params: the member "ProtocolVersion" is spelled almost like protocolVersion`,
		`{"protocolVersion":"2025-11-25","clientInfo":{},"clientInfo":{}}`: "the member clientInfo stands there twice",
	} {
		g := newRig(t, setup{silent: true}, offer{namespace: "a", starting: true})
		if params != "" {
			params = `,"params":` + params
		}
		frame := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"initialize"` + params + `}`)
		if got := refusalOf(t, frame, mcpwire.Initialize, -32602); !strings.HasSuffix(got, says) {
			t.Errorf("%s: %s", params, got)
		}
		select {
		case <-g.r.env.FirstClient.Done:
			t.Errorf("%s: the handshakes begin", params)
		default:
		}
		g.client.initialize("")
		if frame := g.client.hearsOne(); codeOf(t, frame) != 0 {
			t.Errorf("afterwards: %s", frame)
		}
	}
}

func TestTheNameOfAClientIsShownSafely(t *testing.T) {
	g := newRig(t, setup{silent: true})
	g.client.says(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x","clientInfo":{"name":"\u001b[2J\u202e` + strings.Repeat("ü", 100) + `"}}}`)
	if got, want := g.s.Name(), " [2J"+strings.Repeat("ü", 59); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Until it is known of which era the client is and what it can do, only what does not
// depend on that is answered, and no server is spoken to.
func TestAClientHasToSayWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{silent: true, active: []string{"*"}}, various())
		g.client.says(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
		g.client.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + idOf(t, g.servers[0].hearsOne()) + `,"result":{}}`)
		g.client.wants(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		for _, method := range []string{"tools/list", "server/discover", "no/such"} {
			g.client.says(`{"jsonrpc":"2.0","id":3,"method":"` + method + `"}`)
			got := g.client.hears()
			if len(got) != 1 || !strings.Contains(got[0], `"code":-32602,"message":"begin with initialize, or name the revision of each request`) {
				t.Errorf("%s is answered %s", method, got)
			}
		}
		select {
		case <-g.r.env.FirstClient.Done:
			t.Error("the handshakes begin before it is known what the client can do")
		default:
		}
	})
}

func TestRequestsWaitUntilTheServersHaveStarted(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", tools: []string{"x"}}, offer{namespace: "b", tools: []string{"y"}, starting: true})
	g.client.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, callFrame("2", "a_x", "{}"), callFrame("3", "b_y", `{"n":1.0}`),
		activation{toolsOff: []string{"b_y"}}.frame("5"), callFrame("6", "b_y", "{}"),
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	g.client.wants(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	g.quiet()

	g.servers[1].ready()
	heard := g.client.hears()
	var order []string
	for i, frame := range heard {
		if method := methodsOf(t, heard[i:i+1])[0]; method != "" {
			order = append(order, method)
		} else {
			order = append(order, idOf(t, frame))
		}
	}
	checkList(t, "in the order they came", order, "1", toolsChanged, "5", "6")
	if !strings.Contains(heard[0], `"b_y"`) {
		t.Errorf("the list is not whole: %s", heard[0])
	}
	if n := len(g.servers[0].hears()); n != 1 {
		t.Errorf("%d calls of a_x", n)
	}
	if got := g.servers[1].hearsOne(); !strings.HasSuffix(got, `"params":{"name":"y","arguments":{"n":1.0}}}`) {
		t.Errorf("passed on %s", got)
	}
	g.client.says(`{"jsonrpc":"2.0","id":8,"method":"prompts/list"}`)
	g.client.wants(`{"jsonrpc":"2.0","id":8,"result":{"prompts":[]}}`)
}

func TestWhatNeedsNoServerDoesNotWait(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a", starting: true})
	g.client.says(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	for _, method := range []string{"ping", "server/discover", "no/such/method"} {
		if frame := g.client.asks(`{"jsonrpc":"2.0","id":2,"method":"` + method + `"}`); idOf(t, frame) != "2" {
			t.Errorf("%s: %s", method, frame)
		}
	}
	g.quiet()
}

// The first list waits no longer than start_timeout; what comes later is told.
func TestALateServerIsAnnounced(t *testing.T) {
	late := alike("b", "late")
	late.late = true
	g := newRig(t, setup{}, offer{namespace: "a", tools: []string{"x"}}, late)
	if n := len(g.listed(mcpwire.Tool)); n != 1 {
		t.Errorf("%d tools, want toolman_activate", n)
	}
	g.servers[1].ready()
	checkList(t, "told", methodsOf(t, g.client.hears()), toolsChanged, promptsChanged) // nothing is active but the prompt
}

func TestTheFirstCatalogIsNotAnnounced(t *testing.T) {
	one := alike("a", "one")
	one.starting = true
	g := newRig(t, setup{active: []string{"*"}}, one)
	g.client.says(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	g.servers[0].ready()
	checkList(t, "told", methodsOf(t, g.client.hears()), "")
}

func TestParkedRequestsAreBounded(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a", starting: true})
	for i := range mostParked {
		g.client.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`, i))
	}
	g.quiet()
	frame := g.client.asks(`{"jsonrpc":"2.0","id":"over","method":"tools/call","params":{"name":"x"}}`)
	if got := refusalOf(t, frame, mcpwire.ToolsCall, 0); got != "too many requests while the upstream servers start; wait for the answers and send it again" {
		t.Errorf("says %q", got)
	}
	g.servers[0].ready()
	if n := len(g.client.hears()); n != mostParked {
		t.Errorf("%d answers, want %d", n, mostParked)
	}
}

func TestTheBytesOfParkedRequestsAreBounded(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a", starting: true})
	large := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", client.MaxWaitingBytes) + `"}}`
	small := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`
	g.client.says(large) // alone it may wait
	g.quiet()
	if got := refusalOf(t, g.client.asks(small), mcpwire.ToolsCall, 0); !strings.HasPrefix(got, "too many requests") {
		t.Errorf("says %q", got)
	}
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, small)
	g.quiet()
	if got := refusalOf(t, g.client.asks(large), mcpwire.ToolsCall, 0); !strings.HasPrefix(got, "too many requests") {
		t.Errorf("says %q", got)
	}
}

func TestFramesOfTheClientThatAreNoMessages(t *testing.T) {
	for _, tt := range []struct {
		name, frame string
		code        int // 0: no answer
		id          string
	}{
		{"no JSON", `hello`, -32700, "null"},
		{"cut off", `{"jsonrpc":"2.0","id":5,"method":"tools/call"`, -32700, "null"},
		{"half a character", `{"jsonrpc":"2.0","id":5,"method":"` + "\xc3" + `"}`, -32700, "null"},
		{"a batch", `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"ping"}]`, -32600, "null"},
		{"a number", `5`, -32600, "null"},
		{"no version", `{"id":"\u0035","method":"ping"}`, -32600, `"\u0035"`},
		{"another version", `{"jsonrpc":"1.0","id":5,"method":"ping"}`, -32600, `5`},
		{"a method that is a number", `{"jsonrpc":"2.0","id":1.50,"method":1}`, -32600, `1.50`},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600, "null"},
		{"an id that is true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "null"},
		{"a look-alike", `{"jsonrpc":"2.0","id":5,"method":"ping","Method":"tools/call"}`, -32600, "5"},
		{"neither request nor response", `{"jsonrpc":"2.0","id":5}`, -32600, "5"},
		{"a response that is none", `{"jsonrpc":"2.0","id":5,"result":{},"error":{}}`, 0, ""},
		{"a response with look-alikes", `{"jsonrpc":"2.0","id":5,"result":{},"RESULT":{}}`, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := switchable(t)
			g.client.says(tt.frame)
			if tt.code != 0 {
				frame := g.client.hearsOne()
				if got := refusalOf(t, frame, "", tt.code); idOf(t, frame) != tt.id || !strings.HasSuffix(got, "; this message was ignored") {
					t.Errorf("answered %s with %q", idOf(t, frame), got)
				}
			}
			g.quiet()
			g.client.says(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
			g.client.wants(`{"jsonrpc":"2.0","id":9,"result":{}}`)
		})
	}
}

func TestAFrameOfTheClientThatIsTooLong(t *testing.T) {
	for _, tt := range []struct{ name, head, tail, id string }{
		{"its id first", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"`, `"}}`, `"a"`},
		{"its id last", `{"method":"tools/call","params":{"name":"`, `"},"jsonrpc":"2.0","id":5}`, "5"},
		{"no id that can be seen", `{"jsonrpc":"2.0","method":"tools/call","params":{"id":5,"name":"`, `"}}`, "null"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := switchable(t)
			g.client.tooLong(tt.head, tt.tail)
			frame := g.client.hearsOne()
			if got, want := refusalOf(t, frame, "", -32600), "message of 41943040 bytes is over the limit of 33554432; this message was ignored"; got != want || idOf(t, frame) != tt.id {
				t.Errorf("answers %s with %q, want %s with %q", idOf(t, frame), got, tt.id, want)
			}
			g.quiet()
		})
	}
}

func TestSetLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{}, offer{namespace: "logs"}, offer{namespace: "late", late: true}, offer{namespace: "mute"})
		upstream.Simulate(g.servers[2].u).Result().Capabilities = nil
		g.client.says(`{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"x":1.0,"level":"\u0069nfo" }}`)
		g.client.wants()
		want := func(l *link) {
			t.Helper()
			frame := l.hearsOne()
			l.says(`{"jsonrpc":"2.0","id":` + idOf(t, frame) + `,"result":{}}`)
			if want := `{"jsonrpc":"2.0","id":` + idOf(t, frame) + `,"method":"logging/setLevel","params":{"x":1.0,"level":"\u0069nfo" }}`; frame != want {
				t.Errorf("got %s, want %s", frame, want)
			}
		}
		want(g.servers[0])
		g.client.wants(`{"jsonrpc":"2.0","id":"l","result":{}}`)
		g.quiet()
		g.servers[1].ready()
		want(g.servers[1])
		g.quiet()
	})
}

// Servers that handle requests side by side would log the start of the client's next call
// as before, if the client could make it at once.
func TestTheAnswerToSetLevelWaitsForTheServersButNotForEver(t *testing.T) {
	const ask, answer = `{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"info"}}`, `{"jsonrpc":"2.0","id":"l","result":{}}`
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{}, offer{namespace: "a"}, offer{namespace: "b"})
		a, b := g.servers[0], g.servers[1]
		reply := func(l *link) {
			l.says(`{"jsonrpc":"2.0","id":` + idOf(t, l.hearsOne()) + `,"error":{"code":-32601,"message":"no"}}`)
		}
		g.client.says(ask)
		reply(a)
		g.client.wants()
		reply(b)
		g.client.wants(answer)

		g.client.says(ask)
		reply(a)
		g.client.wants()
		b.dies()
		g.client.wants(answer)

		g.client.says(ask, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`)
		reply(a)
		g.client.wants()

		g.client.says(ask)
		a.hearsOne()
		time.Sleep(levelTimeout)
		synctest.Wait()
		g.client.wants(answer)
	})
}

func TestSetLevelRefuses(t *testing.T) {
	for params, says := range map[string]string{
		`{"level":"loud"}`:                 `unknown log level "loud"; use debug, info, notice, warning, error, critical, alert or emergency`,
		`{"level":"INFO"}`:                 `unknown log level "INFO"; use debug, info, notice, warning, error, critical, alert or emergency`,
		`{"level":"\u001b\u202e"}`:         `unknown log level " "; use debug, info, notice, warning, error, critical, alert or emergency`,
		`{"level":1}`:                      `unknown log level ""; use debug, info, notice, warning, error, critical, alert or emergency`,
		`{}`:                               `unknown log level ""; use debug, info, notice, warning, error, critical, alert or emergency`,
		`["info"]`:                         `unknown log level ""; use debug, info, notice, warning, error, critical, alert or emergency`,
		`{"level":"info","level":"debug"}`: `in params: the member level stands there twice`,
	} {
		g := newRig(t, setup{}, offer{namespace: "logs"})
		frame := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":` + params + `}`)
		if got := refusalOf(t, frame, mcpwire.SetLevel, -32602); got != says {
			t.Errorf("%s: says %q, want %q", params, got, says)
		}
		g.quiet()
	}
}

// What toolman answers itself is valid, whatever the names.
func TestOwnAnswersAreValidMessages(t *testing.T) {
	odd := []string{`"`, `\`, "\n", "\x00", "\x1b", "\u2028", "<", "é", "🦊", "toolman"}
	var tools, resources []string
	for _, name := range odd {
		quoted, _ := json.Marshal(name)
		tools = append(tools, `{"name":`+string(quoted)+`,"description":`+string(quoted)+`}`)
		resources = append(resources, `{"uri":`+string(quoted)+`,"description":`+string(quoted)+`}`)
	}
	g := newRig(t, setup{}, offer{namespace: "ns", tools: tools, resources: resources})
	for _, name := range odd {
		quoted, _ := json.Marshal(name)
		for _, frame := range []string{callFrame("1", "toolman_activate", `{"tools_on":[`+string(quoted)+`],"tools_off":[],"resources_on":[`+string(quoted)+`],"resources_off":[]}`),
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + string(quoted) + `}}`,
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":` + string(quoted) + `}}`,
			`{"jsonrpc":"2.0","id":1,"method":` + string(quoted) + `}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`} {
			g.client.says(frame)
			for _, answer := range g.client.hears() {
				if m := scanned(t, answer); m.Kind == jsonrpc.Invalid || strings.ContainsRune(answer, '\n') {
					t.Errorf("%s\nis answered with %s", frame, answer)
				}
			}
		}
	}
}
