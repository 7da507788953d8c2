package play_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/dialog"
	"toolman/cmd/internal/traces/play"
	"toolman/cmd/internal/traces/recording"
	"toolman/fixtures/tape"
)

// converse plays a recording to a client that follows a script: it sends the lines after ">", and
// wants exactly those after "<". A line may end in "…", where the rest does not matter.
func converse(t *testing.T, record, script string) *play.Report {
	t.Helper()
	session, err := recording.Read(t.Context(), recording.Source{File: tape.Write(t, record)})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := compare.NewRules(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	toServer, client := io.Pipe()
	fromServer, server := io.Pipe()
	conn := dialog.New(toServer, server)
	done := make(chan *play.Report)
	go func() {
		report := play.Serve(context.Background(), session, conn, rules)
		conn.CloseWrite()
		done <- report
	}()
	lines := make(chan string)
	go func() {
		in := bufio.NewScanner(fromServer)
		for in.Scan() {
			lines <- in.Text()
		}
		close(lines)
	}()
	for _, step := range strings.Split(strings.TrimSpace(script), "\n") {
		mark, text, _ := strings.Cut(strings.TrimSpace(step), " ")
		if mark == ">" {
			fmt.Fprintln(client, text)
			continue
		}
		got := <-lines
		if start, cut := strings.CutSuffix(text, "…"); got != text && !(cut && strings.HasPrefix(got, start)) {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
	client.Close()
	for line := range lines {
		t.Errorf("also got %s", line)
	}
	return <-done
}

// wrong describes what was not as recorded.
func wrong(r *play.Report) string {
	var all []string
	for _, c := range r.Cases {
		if c.Wrong != "" {
			all = append(all, c.Name+": "+c.Wrong)
		}
	}
	return strings.Join(all, "\n")
}

func want(t *testing.T, r *play.Report, problems string) {
	t.Helper()
	if got := wrong(r); got != problems {
		t.Errorf("got %s\nwant %s", got, problems)
	}
}

const read = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"a","n":1},"_meta":{"progressToken":1}}}
	< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
	< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}
	< {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
	`

func TestACallIsAnsweredWithWhatCameInIt(t *testing.T) {
	r := converse(t, read, `> {"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"_meta":{"progressToken":"p"},"arguments":{"n":1.0,"path":"a"},"name":"read"}}
		< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}
		< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}
		< {"jsonrpc":"2.0","id":"q","result":{"content":[]}}
		> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"path":"a","n":1}}}
		< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}
		< {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
		> {"jsonrpc":"2.0","id":3,"method":"ping"}
		< {"jsonrpc":"2.0","id":3,"result":{}}`)
	want(t, r, "")
}

func TestRepeatedRequestsAreAnsweredInOrder(t *testing.T) {
	const count = `> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"count"}}
	< {"jsonrpc":"2.0","id":%d,"result":{"n":%d}}
	`
	var recorded, asked string
	for i := 1; i <= 4; i++ {
		if i < 3 {
			recorded += fmt.Sprintf(count, i, i, i)
		}
		asked += fmt.Sprintf(count, i+10, i+10, min(i, 2))
	}
	want(t, converse(t, recorded, asked), "")
}

func TestAnUnknownRequestNamesTheClosest(t *testing.T) {
	for _, tt := range []struct{ name, asked, code, problem, closest string }{
		{"other arguments", `tools/call","params":{"name":"read","arguments":{"path":"b","n":1}}`, "-32602",
			`tools/call read: the recording has no tools/call read with these arguments; the closest, in line 0, differs in params.arguments.path: "a" there, "b" here`,
			`{"method":"tools/call","name":"read","line":0,"differences":[{"path":"params.arguments.path","a":"a","b":"b"}]}`},
		{"other name", `tools/call","params":{"name":"raed"}`, "-32602",
			"tools/call raed: the recording has no tools/call raed; the closest name is read, in line 0", `{"method":"tools/call","name":"read","line":0}`},
		{"no such name", `tools/call","params":{"name":"delete_all"}`, "-32602",
			"tools/call delete_all: the recording has no tools/call delete_all, only read", ""},
		{"no such method", `server/discover"`, "-32601", "server/discover: the recording has no request server/discover", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, why, _ := strings.Cut(tt.problem, ": ")
			data := ""
			if tt.closest != "" {
				data = `,"data":{"closest":` + tt.closest + `}`
			}
			message, _ := json.Marshal("toolman trace play: " + why)
			r := converse(t, read, `> {"jsonrpc":"2.0","id":5,"method":"`+tt.asked+`}
				< {"jsonrpc":"2.0","id":5,"error":{"code":`+tt.code+`,"message":`+string(message)+data+`}}`)
			want(t, r, tt.problem)
			if suite := r.JUnit(); suite.Failed() != 1 || len(suite.Cases) != 1 {
				t.Errorf("%+v", suite)
			}
		})
	}
}

// Arguments that differ only by what the rules ignore are the same.
func TestVolatileArguments(t *testing.T) {
	const call = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log","arguments":{"at":"%s"}}}
	< {"jsonrpc":"2.0","id":1,"result":{}}`
	want(t, converse(t, fmt.Sprintf(call, "2026-01-02T03:04:05Z"), fmt.Sprintf(call, "2027-02-03T04:05:06Z")), "")
}

const asking = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}
	< {"jsonrpc":"2.0","id":"s","method":"elicitation/create","params":{"message":"which?"}}
	> {"jsonrpc":"2.0","id":"s","result":{"action":"accept","content":{"c":"red"}}}
	< {"jsonrpc":"2.0","id":1,"result":{"said":"red"}}`

func TestRequestsOfTheServerAreAskedAgain(t *testing.T) {
	const script = `> {"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"ask"}}
		< {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"which?"}}
		> {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"c":"COLOR"}}}
		< {"jsonrpc":"2.0","id":9,"result":{"said":"red"}}`
	want(t, converse(t, asking, strings.ReplaceAll(script, "COLOR", "red")), "")
	r := converse(t, asking, strings.ReplaceAll(script, "COLOR", "blue"))
	want(t, r, "answer to elicitation/create: the answer is another one than in the recording")
	if text := string(r.Text(false)); !strings.Contains(text, "result.content.c\n      - \"red\"\n      + \"blue\"\n") || !strings.Contains(text, "1 not as recorded") {
		t.Error(text)
	}
}

func TestRoundsOfInput(t *testing.T) {
	round := func(state, color string) string {
		return `> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","inputResponses":{"q":{"action":"accept","content":{"c":"` + color + `"}}},"requestState":"` + state + `"}}
		< {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","said":"` + state + `"}}
		`
	}
	first := func(state string) string {
		return `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}
		< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create"}},"requestState":"` + state + `"}}
		`
	}
	recorded := first("s1") + round("s1", "red") + first("s2") + round("s2", "red")
	want(t, converse(t, recorded, first("s1")+first("s2")+round("s2", "red")+round("s1", "red")), "")
	want(t, converse(t, recorded, first("s1")+round("s1", "blue")), "tools/call ask: it gives another input than in the recording")
}

func TestWhatTheServerSentByItself(t *testing.T) {
	const recorded = `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
	< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}
	> {"jsonrpc":"2.0","method":"notifications/initialized"}
	< {"jsonrpc":"2.0","id":1,"method":"roots/list"}
	> {"jsonrpc":"2.0","id":1,"result":{"roots":[]}}
	< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
	> {"jsonrpc":"2.0","id":2,"method":"tools/list"}
	< {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`
	want(t, converse(t, recorded, recorded), "")
}

func TestASubscriptionHasTheIDOfTheClient(t *testing.T) {
	session := func(id string) string {
		return strings.ReplaceAll(`> {"jsonrpc":"2.0","id":ID,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}
	< {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID},"notifications":{}}}
	> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"change"}}
	< {"jsonrpc":"2.0","id":2,"result":{}}
	< {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}}
	< {"jsonrpc":"2.0","id":ID,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}}`, "ID", id)
	}
	lines := strings.Split(session("7"), "\n")
	want(t, converse(t, session(`"listen:0"`), strings.Join(lines[:5], "\n")+"\n"+`> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`+"\n"+lines[5]), "")
	// without the subscription, nothing is said of a change
	want(t, converse(t, session(`"listen:0"`), lines[2]+"\n"+lines[3]), "")
}

func TestCancelledAndCutCalls(t *testing.T) {
	const recorded = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
	> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
	> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"large"}}
	<%cut {"jsonrpc":"2.0","id":2,"result":{}}
	> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hung"}}`
	r := converse(t, recorded, `> {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow"}}
		> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}
		> {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"large"}}
		< {"jsonrpc":"2.0","id":6,"error":{"code":-32603,"message":"toolman trace play: the recording has only a part of the response"…
		> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hung"}}
		< {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"toolman trace play: the recording has no response to this call"…`)
	want(t, r, "tools/call large: the recording has only a part of the response\ntools/call hung: the recording has no response to this call")
}

// The handshake is the one for the client's revision, also that of another session in the file.
func TestHandshakes(t *testing.T) {
	hello := func(asked, got string) string {
		return `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + asked + `"}}
		< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"` + got + `"}}
		`
	}
	const discover = `> {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}
	< {"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}
	`
	recorded := "= first\n" + discover + hello("2025-06-18", "2025-06-18") + "= second\n" + hello("2025-11-25", "2025-11-25") + read
	want(t, converse(t, recorded, hello("2025-11-25", "2025-11-25")), "")
	want(t, converse(t, recorded, hello("2025-06-18", "2025-06-18")), "")
	want(t, converse(t, recorded, hello("2024-11-05", "2025-11-25")), "")
	want(t, converse(t, recorded, discover), "")
}
