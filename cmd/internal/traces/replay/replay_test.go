package replay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/dialog"
	"toolman/cmd/internal/traces/recording"
	"toolman/cmd/internal/traces/replay"
	"toolman/fixtures/tape"
)

// A message is what a server of a test gets.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// A server says what it sends when it gets a message: lines, in which $ID is the message's ID.
type server func(m message) []string

// play replays a script against a server, and returns the report and what the server got, a line
// for each message, as "method params" or "result".
func play(t *testing.T, script string, o replay.Options, serve server) (report *replay.Report, got []string) {
	t.Helper()
	session, err := recording.Read(t.Context(), recording.Source{File: tape.Write(t, script)})
	if err != nil {
		t.Fatal(err)
	}
	if o.Rules == nil {
		if o.Rules, err = compare.NewRules(false, nil); err != nil {
			t.Fatal(err)
		}
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	synctest.Test(t, func(t *testing.T) {
		toServer, fromReplay := io.Pipe()
		toReplay, fromServer := io.Pipe()
		ended := make(chan bool)
		go func() {
			defer close(ended)
			defer fromServer.Close()
			lines := bufio.NewScanner(toServer)
			for lines.Scan() {
				var m message
				if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
					t.Errorf("%s: %v", lines.Text(), err)
				}
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s%s%s", m.Method, m.Params, m.Result, m.Error)))
				for _, line := range serve(m) {
					if line == "end" {
						return
					}
					fmt.Fprintln(fromServer, strings.ReplaceAll(line, "$ID", string(m.ID)))
				}
			}
		}()
		conn := dialog.New(toReplay, fromReplay)
		report, err = replay.Run(context.Background(), session, conn, o)
		if err != nil {
			t.Fatal(err)
		}
		conn.CloseWrite()
		go io.Copy(io.Discard, toReplay)
		synctest.Wait()
		conn.Close()
		toServer.Close()
		<-ended
	})
	return report, got
}

// states describes the outcomes, a line for each.
func states(r *replay.Report) string {
	names := map[replay.State]string{replay.Equal: "equal", replay.Differs: "differs", replay.Failed: "failed", replay.NotSent: "not sent", replay.NotCompared: "not compared"}
	var b strings.Builder
	for _, o := range r.Outcomes {
		fmt.Fprintf(&b, "%s %s", strings.TrimSpace(o.Call.Request.Method+" "+o.Call.Request.Name), names[o.State])
		if o.Why != "" {
			b.WriteString(": " + o.Why)
		}
		for _, d := range o.Differences {
			b.WriteString(" " + d.Path)
		}
		b.WriteString("\n")
	}
	for _, what := range r.Unasked {
		b.WriteString(what + "\n")
	}
	return b.String()
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(want), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if want = strings.Join(lines, "\n"); strings.TrimSpace(got) != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

const (
	hello = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
	< {"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"s","version":"1"}}}
	> {"jsonrpc":"2.0","method":"notifications/initialized"}
	`
	readCall  = `> {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"read","arguments":{"n":1}}}` + "\n"
	readReply = `< {"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"one"}]}}` + "\n"
	writeCall = `> {"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"write","arguments":{"n":2}}}` + "\n"
	writeDone = `< {"jsonrpc":"2.0","id":"b","result":{"content":[]}}` + "\n"
	lists     = `{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"read","annotations":{"readOnlyHint":true}},{"name":"write"}]}}`
)

// files serves two tools.
func files(m message) []string {
	switch {
	case m.Method == "initialize":
		return []string{`{"jsonrpc":"2.0","id":$ID,"result":{"serverInfo":{"name":"s","version":"2"}}}`}
	case m.Method == "tools/list":
		return []string{lists}
	case strings.Contains(string(m.Params), `"read"`):
		return []string{`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"one"}]}}`}
	case m.Method == "tools/call":
		return []string{`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`}
	}
	return nil
}

func TestOnlyReadingToolsAreCalled(t *testing.T) {
	report, got := play(t, hello+readCall+readReply+writeCall+writeDone, replay.Options{}, files)
	check(t, "outcomes", states(report), `initialize equal
		tools/call read equal
		tools/call write not sent: the tool is not read-only; --yes calls it`)
	check(t, "sent", strings.Join(got, "\n"), `initialize {"protocolVersion":"2025-11-25"}
		notifications/initialized
		tools/list {}
		tools/call {"name":"read","arguments":{"n":1}}`)
	if report.Mismatches() != 0 {
		t.Errorf("%d mismatches", report.Mismatches())
	}
	report, got = play(t, hello+readCall+readReply+writeCall+writeDone, replay.Options{Yes: true}, files)
	if len(got) != 4 || got[3] != `tools/call {"name":"write","arguments":{"n":2}}` || report.Mismatches() != 0 {
		t.Errorf("with --yes: %q\n%s", got, states(report))
	}
}

// What a recording says of a tool counts only if the new server does not say otherwise.
func TestTheNewServerSaysWhatIsReadOnly(t *testing.T) {
	const listed = `> {"jsonrpc":"2.0","id":1,"method":"tools/list"}
	< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"write","annotations":{"readOnlyHint":true}},{"name":"gone","annotations":{"readOnlyHint":true}}]}}
	`
	const gone = `> {"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"gone"}}
	< {"jsonrpc":"2.0","id":"c","result":{"content":[]}}`
	report, _ := play(t, hello+listed+writeCall+writeDone+gone, replay.Options{}, files)
	check(t, "outcomes", states(report), `initialize equal
		tools/list differs result.tools[name=write].annotations result.tools[name=gone] result.tools[name=read]
		tools/call write not sent: the tool is not read-only; --yes calls it
		tools/call gone equal`)
}

// A recording alone does not make a tool read-only.
func TestWithoutAListNothingIsCalled(t *testing.T) {
	const listed = `> {"jsonrpc":"2.0","id":1,"method":"tools/list"}
	< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"write","annotations":{"readOnlyHint":true}}]}}
	`
	report, got := play(t, hello+listed+writeCall+writeDone, replay.Options{}, func(m message) []string {
		if m.Method == "tools/list" {
			return []string{`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"later"}}`}
		}
		return files(m)
	})
	if strings.Contains(strings.Join(got, "\n"), "tools/call") || !strings.Contains(states(report), "does not list its tools") {
		t.Errorf("%s\n%q", states(report), got)
	}
}

// A tool that only read before the list changed may write now.
func TestAChangedListIsReadAgain(t *testing.T) {
	const again = `> {"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"read","arguments":{"n":3}}}
	< {"jsonrpc":"2.0","id":"d","result":{"content":[]}}
	`
	changed := false
	_, got := play(t, hello+readCall+readReply+again, replay.Options{}, func(m message) []string {
		switch {
		case m.Method == "tools/list" && changed:
			return []string{strings.Replace(lists, "true", "false", 1)}
		case m.Method == "tools/call":
			changed = true
			return append([]string{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`}, files(m)...)
		}
		return files(m)
	})
	if n := strings.Count(strings.Join(got, "\n"), "tools/call"); n != 1 {
		t.Errorf("%d calls: %q", n, got)
	}
}

// Whoever wrote the recording cannot hide a call of another tool from the check.
func TestHiddenCallsAreNotSent(t *testing.T) {
	for _, hidden := range []string{
		`> {"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"write","Name":"read"}}`,
		`> {"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"NAME":"read","name":"write"}}`,
		`> {"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"write","name":"read"}}`,
		`> {"jsonrpc":"2.0","method":"tools/call","params":{"name":"write"}}`,
	} {
		_, got := play(t, hello+hidden, replay.Options{}, files)
		if strings.Contains(strings.Join(got, "\n"), "tools/call") {
			t.Errorf("%s: sent %q", hidden, got)
		}
	}
}

func TestTheRefusalOfAnUnknownRequestIsJSON(t *testing.T) {
	_, got := play(t, hello+readCall+readReply, replay.Options{Yes: true}, func(m message) []string {
		if m.Method == "tools/call" {
			return append([]string{`{"jsonrpc":"2.0","id":"r","method":"\u0007x"}`}, files(m)...)
		}
		return files(m)
	})
	if all := strings.Join(got, "\n"); !strings.Contains(all, `the recording has no answer to \u0007x`) {
		t.Errorf("got %s", all)
	}
}

func TestDifferencesAndFailures(t *testing.T) {
	report, _ := play(t, hello+readCall+strings.Replace(readReply, "one", "two", 1)+writeCall+writeDone, replay.Options{Yes: true}, func(m message) []string {
		if strings.Contains(string(m.Params), `"write"`) {
			return []string{"hello!", "end"}
		}
		return files(m)
	})
	check(t, "outcomes", states(report), `initialize equal
		tools/call read differs result.content[0].text
		tools/call write failed: the server has ended`)
	if report.Mismatches() != 2 || report.Stray != 1 || report.Sample != "hello!" {
		t.Errorf("%d mismatches, stray %q", report.Mismatches(), report.Sample)
	}
	text := string(report.Text(false))
	for _, want := range []string{"~ tools/call read  line 3\n    result.content[0].text\n      - \"two\"\n      + \"one\"\n", "! tools/call write  line 5: the server has ended", "1 equal, 1 different, 1 failed"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if suite := report.JUnit(); len(suite.Cases) != 3 || suite.Failed() != 2 || !strings.Contains(suite.Cases[1].Failure, `+ "one"`) {
		t.Errorf("%+v", suite)
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	report, _ := play(t, hello+readCall+readReply, replay.Options{Yes: true}, func(m message) []string {
		if m.Method == "tools/call" {
			return nil
		}
		return files(m)
	})
	check(t, "outcomes", states(report), "initialize equal\ntools/call read failed: no response within 1m0s")
}

// The time is not spent again on each message.
func TestAServerThatNeverAnswers(t *testing.T) {
	report, got := play(t, hello+readCall+readReply+writeCall+writeDone, replay.Options{}, func(message) []string { return nil })
	check(t, "outcomes", states(report), `initialize failed: no response within 1m0s
		tools/call read not sent: the server does not list its tools, so this one may write; --yes calls it
		tools/call write not sent: the server does not list its tools, so this one may write; --yes calls it`)
	if len(got) != 1 {
		t.Errorf("sent %q", got)
	}
}

// Messages wait for what had arrived before them, and for nothing else.
func TestConcurrentCallsStayConcurrent(t *testing.T) {
	var held []string
	report, got := play(t, hello+readCall+writeCall+writeDone+readReply+`> {"jsonrpc":"2.0","id":5,"method":"ping"}
	< {"jsonrpc":"2.0","id":5,"result":{}}`, replay.Options{Yes: true}, func(m message) []string {
		switch {
		case strings.Contains(string(m.Params), `"read"`):
			held = []string{strings.ReplaceAll(files(m)[0], "$ID", string(m.ID))}
			return nil
		case strings.Contains(string(m.Params), `"write"`):
			return append(files(m), held...)
		case m.Method == "ping":
			return []string{`{"jsonrpc":"2.0","id":$ID,"result":{}}`}
		}
		return files(m)
	})
	if len(got) != 5 || report.Mismatches() != 0 {
		t.Errorf("%q\n%s", got, states(report))
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	report, got := play(t, hello+strings.Replace(readCall, ">", ">%cut", 1)+readReply+strings.Replace(writeCall, ">", ">%redacted", 1)+writeDone+
		strings.ReplaceAll(readCall, `"a"`, `"d"`)+strings.Replace(strings.ReplaceAll(readReply, `"a"`, `"d"`), "<", "<%cut", 1), replay.Options{Yes: true}, files)
	check(t, "outcomes", states(report), `initialize equal
		tools/call read not sent: the trace has only a part of it
		tools/call write not sent: secrets were removed from it
		tools/call read equal`)
	if len(got) != 3 {
		t.Errorf("sent %q", got)
	}
}

func TestCancellation(t *testing.T) {
	report, got := play(t, hello+readCall+`> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"late"}}`, replay.Options{Yes: true}, func(m message) []string {
		if m.Method == "tools/call" {
			return nil
		}
		return files(m)
	})
	check(t, "outcomes", states(report), "initialize equal\ntools/call read not compared: it was cancelled")
	if got[len(got)-1] != `notifications/cancelled {"reason":"late","requestId":2}` {
		t.Errorf("sent %q", got)
	}
}

// A legacy server asks; the recorded client's answers come from the recording.
func TestRequestsOfTheServerGetRecordedAnswers(t *testing.T) {
	ask := func(id int, question, answer string) string {
		return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":%q}}
		> {"jsonrpc":"2.0","id":%d,"result":{"action":%q}}
		`, id, question, id, answer)
	}
	script := hello + readCall + ask(7, "first?", "accept") + ask(8, "second?", "decline") + ask(9, "third?", "cancel") + readReply
	report, got := play(t, script, replay.Options{Yes: true}, func(m message) []string {
		switch {
		case m.Method == "tools/call":
			return []string{`{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"message":"second?"}}`,
				`{"jsonrpc":"2.0","id":"y","method":"elicitation/create","params":{"message":"other?"}}`,
				`{"jsonrpc":"2.0","id":"z","method":"roots/list"}`,
				`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"one"}]}}`}
		}
		return files(m)
	})
	check(t, "outcomes", states(report), `initialize equal
		tools/call read equal
		elicitation/create differs params.message
		elicitation/create equal
		elicitation/create failed: the server did not ask
		the server asked roots/list, for which the recording has no answer`)
	if answers := strings.Join(got[3:5], " "); answers != `{"action":"decline"} {"action":"accept"}` {
		t.Errorf("answers: %s", answers)
	}
	if report.Mismatches() != 3 {
		t.Errorf("%d mismatches", report.Mismatches())
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// A modern server asks in a result; the next round has its own state.
func TestRoundsHaveTheStateOfTheNewServer(t *testing.T) {
	const script = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask",` + modernMeta + `}}
	< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m"}}},"requestState":"old"}}
	> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","inputResponses":{"q":{"action":"accept"}},"requestState":"old",` + modernMeta + `}}
	< {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}
	`
	var asking = []string{`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m"}}},"requestState":"new"}}`}
	serve := func(m message) []string {
		if strings.Contains(string(m.Params), "inputResponses") {
			return []string{`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[]}}`}
		}
		return asking
	}
	report, got := play(t, script, replay.Options{Yes: true}, serve)
	check(t, "outcomes", states(report), `tools/call ask differs result.inputRequests.q result.inputRequests.k
		tools/call ask equal`)
	if len(got) != 2 || !strings.Contains(got[1], `"inputResponses":{"k":{"action":"accept"}},"name":"ask","requestState":"new"`) {
		t.Errorf("sent %q", got)
	}

	asking = []string{`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[]}}`}
	report, _ = play(t, script, replay.Options{Yes: true}, serve)
	if want := "tools/call ask not sent: the server did not ask for input"; !strings.Contains(states(report), want) || report.Mismatches() != 1 {
		t.Errorf("%s", states(report))
	}
	report, _ = play(t, script, replay.Options{}, serve) // lists no tools
	if want := "tools/call ask not sent: the tool is not read-only; --yes calls it\n"; states(report) != want+want {
		t.Errorf("%s", states(report))
	}
}

// What the recorded server made up for its client to send back is what the new one has made up.
func TestCursorsAndTasksAreThoseOfTheNewServer(t *testing.T) {
	const script = hello + `> {"jsonrpc":"2.0","id":1,"method":"tools/list"}
	< {"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"old"}}
	> {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"old"}}
	< {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
	> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t","task":{}}}
	< {"jsonrpc":"2.0","id":3,"result":{"task":{"taskId":"t1"}}}
	> {"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":"t1"}}
	< {"jsonrpc":"2.0","id":4,"result":{"taskId":"t1","status":"completed"}}`
	report, got := play(t, script, replay.Options{Yes: true}, func(m message) []string {
		switch {
		case m.Method == "tools/list" && m.Params == nil:
			return []string{`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"nextCursor":"new"}}`}
		case m.Method == "tools/list":
			return []string{`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}`}
		case m.Method == "tools/call":
			return []string{`{"jsonrpc":"2.0","id":$ID,"result":{"task":{"taskId":"t9"}}}`}
		case m.Method == "tasks/get":
			return []string{`{"jsonrpc":"2.0","id":$ID,"result":{"taskId":"t9","status":"completed"}}`}
		}
		return files(m)
	})
	check(t, "sent", strings.Join(got[2:], "\n"), `tools/list
		tools/list {"cursor":"new"}
		tools/call {"name":"t","task":{}}
		tasks/get {"taskId":"t9"}`)
	if report.Mismatches() != 0 {
		t.Errorf("%s", states(report))
	}
}

// A recording that began after the handshake is replayed after one of replay's own.
func TestARecordingWithoutAHandshake(t *testing.T) {
	report, got := play(t, readCall+readReply, replay.Options{Yes: true}, files)
	if len(got) != 3 || !strings.HasPrefix(got[0], `initialize {"protocolVersion":"2025-11-25"`) || report.Mismatches() != 0 {
		t.Errorf("%q\n%s", got, states(report))
	}
}

// A message waits for the requests and notifications that the server had sent before.
func TestMessagesWaitForWhatTheServerSendsByItself(t *testing.T) {
	const script = hello + `< {"jsonrpc":"2.0","id":1,"method":"roots/list"}
	> {"jsonrpc":"2.0","id":1,"result":{"roots":[]}}
	` + readCall + readReply
	report, got := play(t, script, replay.Options{Yes: true}, func(m message) []string {
		if m.Method == "notifications/initialized" {
			time.Sleep(time.Second)
			return []string{`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`}
		}
		return files(m)
	})
	if len(got) != 4 || got[2] != `{"roots":[]}` || report.Mismatches() != 0 {
		t.Errorf("%q\n%s", got, states(report))
	}
}
