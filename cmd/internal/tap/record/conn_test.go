package record_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/tap/record"
	"toolman/jsonrpc/trace"
)

// traced returns the lines of a trace of a dialog, in short. A line of the dialog begins with > for
// the client, < for the server, or ! for its standard error.
func traced(t *testing.T, dialog ...string) []string {
	t.Helper()
	var out bytes.Buffer
	r := record.New(trace.NewWriter(&out, trace.Options{}), "srv")
	conn := r.NewConn()
	streams := map[byte]*record.Stream{'>': conn.Messages(trace.In), '<': conn.Messages(trace.Out), '!': r.Stderr()}
	for _, line := range dialog {
		streams[line[0]].Put([]byte(line[1:] + "\n"))
		for range 2 { // the first may be taken together with the line
			taken := make(chan bool)
			r.Do(func(time.Time) { close(taken) })
			<-taken
		}
	}
	r.Close(time.Minute)
	var all []string
	for rec, err := range trace.Read(&out) {
		switch {
		case err != nil:
			t.Fatal(err)
		case rec.Type == trace.TypeFrame:
			if rec.Leg != trace.Client {
				t.Errorf("leg %s", rec.Leg)
			}
			all = append(all, strings.Join([]string{rec.Peer, string(rec.Dir), string(rec.Kind), rec.Method, rec.Name, string(rec.ID), rec.Call, rec.Status}, " "))
		case rec.Type == trace.TypeEvent:
			all = append(all, strings.Join([]string{rec.Event, rec.Peer, rec.Text}, " "))
		}
	}
	return all
}

func TestTheTraceOfATap(t *testing.T) {
	for _, tt := range []struct {
		name   string
		dialog []string
		want   []string
	}{
		{"a call", []string{
			`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}`,
			`<{"jsonrpc":"2.0","id":1,"result":{"isError":true}}`,
		}, []string{"client in request tools/call add 1 c1 ", "client out response tools/call add 1 c1 tool_error"}},
		{"the client says its name", []string{
			`>{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"inspector","version":"1"}}}`,
			`<{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"no"}}`,
		}, []string{`inspector in request initialize  "a" c1 `, `inspector out response initialize  "a" c1 rpc_error`}},
		{"the client of the revision 2026-07-28 says its name", []string{
			`>{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		}, []string{`new in request tools/list  0 c1 `}},
		{"both sides use the same ID", []string{
			`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`,
			`<{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`,
			`>{"jsonrpc":"2.0","id":1,"result":{}}`,
			`<{"jsonrpc":"2.0","id":1,"result":{}}`,
		}, []string{"client in request tools/call ask 1 c1 ", "client out request elicitation/create  1 c2 ",
			"client in response elicitation/create  1 c2 ok", "client out response tools/call ask 1 c1 ok"}},
		{"progress, cancelled, late, orphan", []string{
			`>{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":"p"}}}`,
			`<{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`,
			`>{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
			`<{"jsonrpc":"2.0","id":1,"result":{}}`,
			`<{"jsonrpc":"2.0","id":1,"result":{}}`,
			`<{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2}}`,
		}, []string{"client in request ping  1 c1 ", "client out notification notifications/progress   c1 ", "client in notification notifications/cancelled   c1 ",
			"client out response ping  1 c1 late", "client out response   1  orphan", "client out notification notifications/progress    "}},
		{"a subscription of the revision 2026-07-28", []string{
			`>{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{}}`,
			`<{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`,
		}, []string{"client in request subscriptions/listen  7 c1 ", "client out notification notifications/tools/list_changed   c1 "}},
		{"an ID in other words", []string{
			`>{"jsonrpc":"2.0","id":"aé","method":"ping"}`, `<{"jsonrpc":"2.0","id":"\u0061\u00e9","result":{}}`,
			`>{"jsonrpc":"2.0","id":2,"method":"ping"}`, `<{"jsonrpc":"2.0","id":"2","result":{}}`,
		}, []string{`client in request ping  "aé" c1 `, `client out response ping  "\u0061\u00e9" c1 ok`,
			"client in request ping  2 c2 ", `client out response   "2"  orphan`}},
		{"a batch", []string{
			`>[{"jsonrpc":"2.0","id":1,"method":"ping"}, {"jsonrpc":"2.0","method":"notifications/initialized"}]`,
			`<[{"jsonrpc":"2.0","id":1,"result":{}}]`,
		}, []string{"client in request ping  1 c1 ", "client in notification notifications/initialized    ", "client out response ping  1 c1 ok"}},
		{"what is no message", []string{
			">\r", ">hello", `>{"a":1}`, "<Listening…\r", `<{"level":30}`, "<{", "!oops\r", "!",
		}, []string{"client in invalid     ", "client in invalid     ", "junk srv Listening…", "client out invalid     ", "junk srv {", "stderr srv oops", "stderr srv "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := traced(t, tt.dialog...); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestAMessageThatIsTooLongIsMatchedByItsEnds(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	got := traced(t,
		`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":"`+long+`"}}}`,
		`>{"jsonrpc":"2.0","id":"b","method":"ping"}`,
		`<{"result":{"content":"`+long+`"},"jsonrpc":"2.0","id":"b"}`,
		`<{"jsonrpc":"2.0","id":1,"result":{"content":"`+long+`"}}`,
		`<`+long)
	want := []string{"client in request tools/call  1 c1 ", `client in request ping  "b" c2 `, `client out response ping  "b" c2 ok`, "client out response tools/call  1 c1 ok", "junk srv x"}
	got[len(got)-1] = got[len(got)-1][:len("junk srv x")]
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// stuck is an output that takes nothing until it is closed.
type stuck chan struct{}

func (s stuck) Write(p []byte) (int, error) {
	<-s
	return len(p), nil
}

func TestAStuckTraceMakesNobodyWait(t *testing.T) {
	out := make(stuck)
	r := record.New(trace.NewWriter(out, trace.Options{QueueBytes: 1 << 10}), "srv")
	s := r.NewConn().Messages(trace.In)
	piece := bytes.Repeat([]byte{'x'}, 1<<20)
	for range 1000 { // 1 GB
		s.Put(piece)
	}
	close(out)
	r.Close(time.Minute)
}
