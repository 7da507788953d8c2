package router

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
)

// various offers something for every method that is passed on.
func various() offer {
	return offer{namespace: "ns", tools: []string{"echo", "a/b \"c\""}, resources: []string{"r://x"}, templates: []string{"t://{a}", "u://{+b}"}, prompts: []string{"p"}}
}

// One request per line: what the client writes and what the server gets, where #
// is the id that toolman has given it.
func TestRequestsArePassedOnVerbatim(t *testing.T) {
	shortened := (&catalog.Source{Namespace: "ns", URISep: "_"}).Expose(mcpwire.Tool, `a/b "c"`)
	for _, tt := range []struct{ name, client, server string }{
		{"a call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","arguments":{"name":"ns_echo"}}}`,
			`{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"echo","arguments":{"name":"ns_echo"}}}`},
		{"numbers as they are", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","arguments":[1.0,1E+2,-0,1e400,9007199254740993,0.10]}}`,
			`{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"echo","arguments":[1.0,1E+2,-0,1e400,9007199254740993,0.10]}}`},
		{"texts as they are", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","arguments":"<&>\u003c\/\ud800\u2028` + "\u2028é" + `"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"echo","arguments":"<&>\u003c\/\ud800\u2028` + "\u2028é" + `"}}`},
		{"order, spaces, duplicates and unknown members as they are",
			"{ \"x\":1 ,\"x\":2,\t\"params\" : { \"task2\":{},\"_meta\":{\"a\":1,\"a\":2}, \"name\" : \"ns_echo\" , \"y\":null},\"method\":\"tools\\/call\", \"id\" : 1,\"jsonrpc\":\"2.0\"}",
			"{ \"x\":1 ,\"x\":2,\t\"params\" : { \"task2\":{},\"_meta\":{\"a\":1,\"a\":2}, \"name\" : \"echo\" , \"y\":null},\"method\":\"tools\\/call\", \"id\" : #,\"jsonrpc\":\"2.0\"}"},
		{"escaped keys and values", `{"jsonrpc":"2.0","\u0069d":"\u0031","method":"tools/call","params":{"n\u0061me":"ns_\u0065cho"}}`,
			`{"jsonrpc":"2.0","\u0069d":#,"method":"tools/call","params":{"n\u0061me":"echo"}}`},
		{"a progress token", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"ns_echo","b":[]},"name":"ns_echo"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"_meta":{"progressToken":#,"b":[]},"name":"echo"}}`},
		{"a progress token that is none", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":null},"name":"ns_echo"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"_meta":{"progressToken":null},"name":"echo"}}`},
		{"a name that clients see shortened", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + shortened + `"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"a/b \"c\""}}`},
		{"a task", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","task":{"ttl":1e3}}}`,
			`{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"echo","task":{"ttl":1e3}}}`},
		{"a prompt", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"arguments":{"a":"ns_p"},"name":"ns_p"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"prompts/get","params":{"arguments":{"a":"ns_p"},"name":"p"}}`},
		{"a resource", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ns_r://x","x":1.0}}`,
			`{"jsonrpc":"2.0","id":#,"method":"resources/read","params":{"uri":"r://x","x":1.0}}`},
		{"a bare resource", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"r:\/\/x"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"resources/read","params":{"uri":"r:\/\/x"}}`},
		{"what a template makes", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ns_t://%C3%A4"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"resources/read","params":{"uri":"t://%C3%A4"}}`},
		{"a subscription", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"ns_u://a/b"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"resources/subscribe","params":{"uri":"u://a/b"}}`},
		{"the end of a subscription", `{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"ns_r://x"}}`,
			`{"jsonrpc":"2.0","id":#,"method":"resources/unsubscribe","params":{"uri":"r://x"}}`},
		{"a completion of a prompt", `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"ns_p"},"argument":{"name":"a","value":"ns_p"}}}`,
			`{"jsonrpc":"2.0","id":#,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"ns_p"}}}`},
		{"a completion of a template", `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"argument":{},"ref":{"uri":"ns_t://{a}","type":"ref/resource"},"_meta":{"progressToken":0}}}`,
			`{"jsonrpc":"2.0","id":#,"method":"completion/complete","params":{"argument":{},"ref":{"uri":"t://{a}","type":"ref/resource"},"_meta":{"progressToken":#}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, client, server := one(t, various())
			client.says(tt.client)
			got := server.hearsOne()
			id := idOf(t, got)
			if _, ok := jsonrpc.ParseID([]byte(id)); !ok {
				t.Errorf("id %s", id)
			}
			if want := strings.ReplaceAll(tt.server, "#", id); got != want {
				t.Errorf("got\n%s, want\n%s", got, want)
			}
			client.wants()
		})
	}
}

const echo = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"ns_echo","arguments":%s}}`

// open calls ns_echo and returns the id that the server knows the call by.
func open(client, server *link, id string) string {
	client.t.Helper()
	client.says(fmt.Sprintf(echo, id, "{}"))
	return idOf(client.t, server.hearsOne())
}

func TestAnswersArePassedBackVerbatim(t *testing.T) {
	for _, tt := range []struct{ name, server, client string }{
		{"a result", `{"jsonrpc":"2.0","id":#,"result":{"content":[{"type":"text","text":"#"}]}}`, `{"jsonrpc":"2.0","id":@,"result":{"content":[{"type":"text","text":"#"}]}}`},
		{"an error", `{"jsonrpc":"2.0","id":#,"error":{"data":{"x":1.0},"message":"no","code":-32000.0}}`, `{"jsonrpc":"2.0","id":@,"error":{"data":{"x":1.0},"message":"no","code":-32000.0}}`},
		{"an error of a tool", `{"result":{"isError":true,"isError":false},"id":#,"jsonrpc":"2.0"}`, `{"result":{"isError":true,"isError":false},"id":@,"jsonrpc":"2.0"}`},
		{"numbers, texts, order, spaces and unknown members", "{\"id\" :\t#, \"z\":[1E2,-0.0,18446744073709551616] ,\"result\": \"\\ud800\\/<\u2028\" ,\"jsonrpc\":\"2.0\" }",
			"{\"id\" :\t@, \"z\":[1E2,-0.0,18446744073709551616] ,\"result\": \"\\ud800\\/<\u2028\" ,\"jsonrpc\":\"2.0\" }"},
		{"a result that is null", `{"jsonrpc":"2.0","id":#,"result":null}`, `{"jsonrpc":"2.0","id":@,"result":null}`},
		{"a result that is a number", `{"jsonrpc":"2.0","id":#,"result":1.0}`, `{"jsonrpc":"2.0","id":@,"result":1.0}`},
		{"an escaped key", `{"jsonrpc":"2.0","\u0069d":#,"result":{}}`, `{"jsonrpc":"2.0","\u0069d":@,"result":{}}`},
		{"a result and an error that is null", `{"jsonrpc":"2.0","id":#,"error":null,"result":{"x":1.0 }}`, `{"jsonrpc":"2.0","id":@,"result":{"x":1.0 }}`},
		{"an error and a result that is null", `{"jsonrpc":"2.0","id":#,"result":null,"error":{ "code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":@,"error":{ "code":1,"message":"m"}}`},
	} {
		for _, id := range []string{`1`, `0`, `-1`, `1.5`, `1.0`, `1e400`, `9223372036854775808`, `18446744073709551616`, `"1"`, `""`, `"\u0031"`, `"` + strings.Repeat("ü", 500) + `"`} {
			_, client, server := one(t, various())
			theirs := open(client, server, id)
			server.says(strings.Replace(tt.server, "#", theirs, 1))
			client.wants(strings.Replace(tt.client, "@", id, 1))
			server.wants()
		}
	}
}

func TestIDsMayRepeatWhileInFlight(t *testing.T) {
	_, client, server := one(t, various())
	var theirs []string
	for range 4 {
		theirs = append(theirs, open(client, server, "1"))
	}
	for _, i := range []int{2, 0, 3, 1} {
		server.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%d}`, theirs[i], i))
		client.wants(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%d}`, i))
	}
	if slices.Sort(theirs); len(slices.Compact(theirs)) != 4 {
		t.Errorf("ids %q", theirs)
	}
}

func TestAnswersNobodyAskedForAreDropped(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various(), offer{namespace: "other", tools: []string{"x"}})
	id := open(g.client, g.servers[0], "1")
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":` + id + `0,"result":1}`, `{"jsonrpc":"2.0","id":"` + id + `","result":2}`, `{"jsonrpc":"2.0","id":` + id + `.0,"result":3}`,
		`{"jsonrpc":"2.0","id":null,"result":4}`, `{"jsonrpc":"2.0","result":5}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"result":6}`, `{"jsonrpc":"2.0","id":0,"result":7}`, `{"jsonrpc":"2.0","id":-` + id + `,"result":8}`,
		`{"jsonrpc":"2.0","id":{},"result":9}`, `{"jsonrpc":"2.0","id":` + id + `e0,"result":10}`, `{"jsonrpc":"2.0","id":"init","result":11}`,
	} {
		g.servers[0].says(frame)
		g.servers[1].says(frame)
	}
	g.servers[1].says(`{"jsonrpc":"2.0","id":` + id + `,"result":"another server's"}`)
	g.quiet()
	g.servers[0].says(`{"jsonrpc":"2.0","id":`+id+`,"result":"mine"}`, `{"jsonrpc":"2.0","id":`+id+`,"result":"again"}`)
	g.client.wants(`{"jsonrpc":"2.0","id":1,"result":"mine"}`)
	g.quiet()
}

func TestAnAnswerThatCannotBeReadEndsItsCall(t *testing.T) {
	for _, tt := range []struct{ name, frame, says string }{
		{"cut off", `{"jsonrpc":"2.0","id":#,"result":{"content":[`, "not valid JSON at byte "},
		{"with half a character", `{"jsonrpc":"2.0","id":#,"result":"` + "\xff" + `"}`, "not valid JSON at byte "},
		{"with its id at the end", `{"result":{"x":tru},"jsonrpc":"2.0","id":#}`, "not valid JSON at byte "},
		{"with a result and an error", `{"jsonrpc":"2.0","id":#,"result":{},"error":{"code":1,"message":""}}`, "not a JSON-RPC 2.0 message: neither"},
		{"with neither", `{"jsonrpc":"2.0","id":#}`, "not a JSON-RPC 2.0 message: neither"},
		{"with an error that is a text", `{"jsonrpc":"2.0","id":#,"error":"no"}`, "not a JSON-RPC 2.0 message: the error must be an object"},
		{"without a version", `{"id":#,"result":{}}`, `not a JSON-RPC 2.0 message: the member jsonrpc must be "2.0"`},
		{"with two results", `{"jsonrpc":"2.0","id":#,"result":1,"result":2}`, "not a JSON-RPC 2.0 message: the member result stands there twice"},
		{"with a look-alike", `{"jsonrpc":"2.0","id":#,"result":1,"Error":2}`, `not a JSON-RPC 2.0 message: the member "Error" is spelled almost like error`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, client, server := one(t, various())
			id, other := open(client, server, `"mine"`), open(client, server, `2`)
			server.says(strings.Replace(tt.frame, "#", id, 1))
			frame := client.hearsOne()
			want := "the answer of server ns could not be passed on: " + tt.says
			if got := refusalOf(t, frame, mcpwire.ToolsCall, 0); idOf(t, frame) != `"mine"` || !strings.HasPrefix(got, want) {
				t.Errorf("answered %s with %q, want %q", idOf(t, frame), got, want)
			}
			server.says(`{"jsonrpc":"2.0","id":`+id+`,"result":{}}`, strings.Replace(tt.frame, "#", id, 1))
			client.wants()
			server.says(`{"jsonrpc":"2.0","id":` + other + `,"result":{}}`)
			client.wants(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		})
	}
}

func TestLinesThatAreNoMessagesAreCounted(t *testing.T) {
	_, client, server := one(t, various())
	open(client, server, "1")
	junk := []string{"Server running on stdio", `[]`, `{}`, `null`, `{"jsonrpc":"2.0","id":1,"method":`, `{"level":"info"}`, "\xff", `[{"jsonrpc":"2.0","id":1,"result":1}]`}
	server.says(junk...)
	client.wants()
	server.wants()
	if got := server.u.Status().Junk; got != len(junk) {
		t.Errorf("%d lines counted, want %d", got, len(junk))
	}
}

// tooLong hands the router a line over the limit.
func (l *link) tooLong(head, tail string) {
	l.handler.Bad(new(jsonrpc.Message), &jsonrpc.TooLongError{Size: 40 << 20, Limit: 32 << 20, Head: []byte(head), Tail: []byte(tail)}, &l.batch)
	l.batch.Flush()
}

func TestAnAnswerThatIsTooLongEndsItsCall(t *testing.T) {
	for _, tt := range []struct{ name, head, tail string }{
		{"its id first", `{"jsonrpc":"2.0","id":#,"result":{"x":"yyyy`, `yyyyyy"}}`},
		{"its id last", `{"result":{"content":"yyyy`, `yyyyyy"},"jsonrpc":"2.0","id":#}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, client, server := one(t, various())
			id := open(client, server, "1")
			server.tooLong(strings.Replace(tt.head, "#", id, 1), strings.Replace(tt.tail, "#", id, 1))
			if got, want := refusalOf(t, client.hearsOne(), mcpwire.ToolsCall, 0),
				"the answer of server ns could not be passed on: message of 41943040 bytes is over the limit of 33554432"; got != want {
				t.Errorf("says %q, want %q", got, want)
			}
		})
	}
}

// When it is known whose answer it was, the server stays, also when nobody waits
// for that any more.
func TestALineThatIsTooLongEndsAServerOnlyWhenItCouldBeAnybodys(t *testing.T) {
	for _, tt := range []struct {
		name, head, tail string
		want             upstream.State
	}{
		{"a late answer", `{"jsonrpc":"2.0","id":#,"result":{"x":"yyyy`, `yyyyyy"}}`, upstream.Ready},
		{"an answer to an id nobody used", `{"jsonrpc":"2.0","id":1#,"result":{"x":"yyyy`, `yyyyyy"}}`, upstream.Ready},
		{"a notification", `{"method":"notifications/message","params":{"x":"yyyy`, `yyyyyy"}}`, upstream.Ready},
		{"an answer without an id", `{"jsonrpc":"2.0","result":{"x":"yyyy`, `yyyyyy"}}`, upstream.Gone},
		{"noise", `yyyy`, `yyyy`, upstream.Gone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, client, server := one(t, various())
				id := open(client, server, "1")
				client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
				server.tooLong(strings.Replace(tt.head, "#", id, 1), tt.tail)
				synctest.Wait()
				if got := server.u.Status(); got.State != tt.want || (got.Problem == "") != (tt.want == upstream.Ready) {
					t.Errorf("the server is %s: %s", got.State, got.Problem)
				}
			})
		})
	}
}

func TestARequestOfAServerThatIsTooLongIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, client, server := one(t, various())
		server.tooLong(`{"method":"sampling/createMessage","params":{"x":"yyyy`, `yyyyyy"},"jsonrpc":"2.0","id":"s"}`)
		server.wants(`{"jsonrpc":"2.0","id":"s","error":{"code":-32600,"message":"message of 41943040 bytes is over the limit of 33554432; it was not passed on"}}`)
		synctest.Wait()
		if got := server.u.Status(); got.State != upstream.Ready {
			t.Errorf("the server is %s: %s", got.State, got.Problem)
		}
		open(client, server, "1")
		g.quiet()
	})
}

func TestACallThatCannotBeWrittenIsAnsweredAtOnce(t *testing.T) {
	for err, says := range map[error]string{
		jsonrpc.ErrQueueFull: "server ns does not read what it is sent, so this call was not passed on; try again later or go on without it",
		jsonrpc.ErrClosed:    "server ns is gone (it has ended), and with it its tools, resources and prompts; go on without it, or have toolman restarted",
	} {
		_, client, server := one(t, various())
		id := open(client, server, "1")
		server.refuses = err
		frame := client.asks(fmt.Sprintf(echo, "2", "{}"))
		if got := refusalOf(t, frame, mcpwire.ToolsCall, 0); got != says || idOf(t, frame) != "2" {
			t.Errorf("says %q, want %q", got, says)
		}
		frame = client.asks(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"ns_r://x"}}`)
		if got := refusalOf(t, frame, mcpwire.ResourcesRead, -32603); got != says {
			t.Errorf("says %q, want %q", got, says)
		}
		server.refuses = nil
		server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		client.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		if n := server.u.Calls.Len(); n > 0 {
			t.Errorf("%d calls are left", n)
		}
	}
}

func TestTheCallsOfADeadServerAreAnswered(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various(), offer{namespace: "other", tools: []string{"x"}})
	const gone = "server ns is gone (it ended with exit status 3), and with it its tools, resources and prompts; go on without it, or have toolman restarted"
	id := open(g.client, g.servers[0], "1")
	g.client.says(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"ns_p"}}`, callFrame("3", "other_x", "{}"))
	g.servers[0].hears()
	other := idOf(t, g.servers[1].hearsOne())
	g.servers[0].dies()
	heard := g.client.hears()
	if len(heard) != 5 {
		t.Fatalf("%d frames: %q", len(heard), heard)
	}
	slices.Sort(heard[:2]) // in any order
	if got := refusalOf(t, heard[0], mcpwire.ToolsCall, 0); got != gone || idOf(t, heard[0]) != "1" {
		t.Errorf("says %q, want %q", got, gone)
	}
	if got := refusalOf(t, heard[1], mcpwire.PromptsGet, -32603); got != gone || idOf(t, heard[1]) != "2" {
		t.Errorf("says %q, want %q", got, gone)
	}
	checkList(t, "then", methodsOf(t, heard[2:]), toolsChanged, resourcesChanged, promptsChanged)
	g.servers[0].says(`{"jsonrpc":"2.0","id":` + id + `,"result":"last words"}`)
	g.quiet()
	if got := refusalOf(t, g.client.asks(fmt.Sprintf(echo, "4", "{}")), mcpwire.ToolsCall, 0); got != gone {
		t.Errorf("says %q, want %q", got, gone)
	}
	g.servers[1].says(`{"jsonrpc":"2.0","id":` + other + `,"result":{}}`)
	g.client.wants(`{"jsonrpc":"2.0","id":3,"result":{}}`)
}

// A call may come between the death of its server and the catalog's change.
func TestACallToAServerThatHasJustDiedIsAnswered(t *testing.T) {
	_, client, server := one(t, various())
	upstream.Simulate(server.u).Lose()
	frame := client.asks(fmt.Sprintf(echo, "1", "{}"))
	if got := refusalOf(t, frame, mcpwire.ToolsCall, 0); !strings.HasPrefix(got, "server ns is gone (it has ended), ") {
		t.Errorf("says %q", got)
	}
	server.wants()
}

// What a session leaves unanswered when toolman ends is answered.
func TestAbandon(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various(), offer{namespace: "slow", tools: []string{"x"}, starting: true})
	g.client.says(fmt.Sprintf(echo, "1", "{}"))
	g.servers[1].ready()
	g.client.says(fmt.Sprintf(echo, "2", "{}"), `{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"ns_p"}}`)
	g.servers[0].hears()
	if n := g.s.Pending(); n != 3 {
		t.Errorf("%d pending, want 3", n)
	}
	g.s.Abandon()
	answered := map[string]bool{}
	for _, frame := range g.client.hears() {
		answered[idOf(t, frame)] = true
		if !strings.Contains(frame, "toolman is ending because its client closed the connection; this was not answered in time") {
			t.Errorf("says %s", frame)
		}
	}
	if len(answered) != 3 || g.s.Pending() != 0 {
		t.Errorf("answered %v, %d pending", answered, g.s.Pending())
	}
}

func TestPendingCountsWhatIsParked(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", tools: []string{"echo"}, starting: true})
	g.client.says(fmt.Sprintf(echo, "1", "{}"), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if n := g.s.Pending(); n != 2 {
		t.Errorf("%d pending, want 2", n)
	}
	g.s.Abandon()
	heard := g.client.hears()
	if len(heard) != 2 || g.s.Pending() != 0 {
		t.Fatalf("%q", heard)
	}
	refusalOf(t, heard[0], mcpwire.ToolsCall, 0)
	refusalOf(t, heard[1], mcpwire.ToolsList, -32603)
	g.servers[0].ready()
	if n := len(g.servers[0].hears()); n > 0 {
		t.Error("what was answered is passed on")
	}
}

func TestOnlyAClientThatHasClosedItsSideCanStillBeTold(t *testing.T) {
	for err, broken := range map[error]bool{io.EOF: false, errors.New("read: broken"): true} {
		g := switchable(t)
		g.s.Closed(err)
		<-g.s.Gone()
		if g.s.Broken() != broken {
			t.Errorf("%v: broken is %v", err, !broken)
		}
	}
}
