package router

import (
	"io"
	"strings"
	"testing"

	"toolman/jsonrpc"
	"toolman/router/upstream"
)

// FuzzSession has a client and a server say anything, a line each in turn; an @ of
// the server's is the id of the last request it was sent. Whatever they say, what
// toolman sends is valid, and every request of the client is answered once.
func FuzzSession(f *testing.F) {
	client := []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","_meta":{"progressToken":"t"}}}`,
		`{"jsonrpc":"2.0","id":"1","method":"resources/read","params":{"uri":"ns_t://1"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"ns_p"}}}`,
		activation{toolsOff: []string{"ns_echo"}, resourcesOn: []string{"ns_r://x"}}.frame("0.5"),
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"1"}}`, `{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"r://x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":4,"METHOD":"ping","method":"ping"}`, `[]`,
		`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"debug"}}`, `{"jsonrpc":"2.0","id":6,"method":"tasks/get","params":{"taskId":"t"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"prompts/list"`, `{"id":8}`, `{"jsonrpc":"2.0","id":9,"method":"initialize"}`,
	}
	server := []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":@}}`, `{"jsonrpc":"2.0","id":@,"result":{}}`,
		`{"jsonrpc":"2.0","id":@,"result":1,"error":{}}`, `{"jsonrpc":"2.0","id":@,"result":null,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":@,"method":"sampling/createMessage","params":{"_meta":{"progressToken":1},"task":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@}}`, `{"id":@,"result":[`, "noise",
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"r://x"}}`, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t"}}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	}
	f.Add(strings.Join(client, "\n"), strings.Join(server, "\n"))
	for i, line := range client {
		f.Add(line, server[i%len(server)])
	}
	f.Fuzz(func(t *testing.T, client, server string) {
		g := newRig(t, setup{active: []string{"*"}}, various())
		u := g.servers[0].u
		defer upstream.Simulate(u).Converse(func([]byte) error { return nil })()
		upstream.Simulate(u).IgnoreChanges() // nobody answers what toolman itself would ask
		a := ledger{t: t, g: g, id: "0", asked: map[string]int{}, odd: map[string]int{}}
		said, told := strings.Split(client, "\n"), strings.Split(server, "\n")
		for i := range max(len(said), len(told)) {
			if i < len(said) {
				a.client(said[i])
			}
			if i < len(told) {
				g.servers[0].says(strings.ReplaceAll(told[i], "@", a.id))
			}
			a.listen()
		}
		g.s.Closed(io.EOF)
		g.s.Abandon()
		a.listen()
		a.check()
	})
}

// A ledger counts requests and answers.
type ledger struct {
	t         *testing.T
	g         *rig
	id        string         // of the last request that the server was sent
	asked     map[string]int // requests of the client without an answer, by id
	odd       map[string]int // frames that are no messages, which may have an answer
	cancelled int
}

func (a *ledger) client(line string) {
	var m jsonrpc.Message
	switch err := jsonrpc.Scan([]byte(line), &m); {
	case err != nil:
		a.odd[string(m.Bytes(m.ID))]++
	case m.Kind == jsonrpc.Request:
		a.asked[string(m.Bytes(m.ID))]++
	case string(m.Text(m.Method)) == "notifications/cancelled":
		a.cancelled++
	}
	a.g.client.says(line)
}

// listen reads what toolman has sent, which must be valid messages on one line.
func (a *ledger) listen() {
	for _, frame := range a.g.servers[0].hears() {
		if m := scanned(a.t, frame); m.Kind == jsonrpc.Request {
			a.id = string(m.Bytes(m.ID))
		}
		if strings.Contains(frame, "\n") {
			a.t.Errorf("two lines: %q", frame)
		}
	}
	for _, frame := range a.g.client.hears() {
		if m := scanned(a.t, frame); m.Kind == jsonrpc.Response {
			a.asked[string(m.Bytes(m.ID))]--
		}
		if strings.Contains(frame, "\n") {
			a.t.Errorf("two lines: %q", frame)
		}
	}
}

func (a *ledger) check() {
	open := 0
	for id, n := range a.asked {
		if id == "null" {
			continue
		}
		if n < -a.odd[id] {
			a.t.Errorf("%s is answered %d times too often", id, -n)
		}
		open += max(0, n)
	}
	if open > a.cancelled {
		a.t.Errorf("%d requests have no answer, %d cancellations: %v", open, a.cancelled, a.asked)
	}
	if n := a.g.s.Pending(); n != 0 {
		a.t.Errorf("%d are pending", n)
	}
}
