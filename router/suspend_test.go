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
	"toolman/mcpwire/inputreq"
	"toolman/router/upstream"
)

// The server may not wait for the answer.
func TestTheCallEndsWhileTheClientIsAway(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"with a result", `{"jsonrpc":"2.0","id":@,"result":{"x":1.0}}`, `"result":{"resultType":"complete","x":1.0}}`},
		{"with an error", `{"jsonrpc":"2.0","id":@,"error":{"code":5.0,"message":"no"}}`, `"error":{"code":5.0,"message":"no"}}`},
		{"with both", `{"jsonrpc":"2.0","id":@,"error":null,"result":{"x":1.0}}`, `"result":{"resultType":"complete","x":1.0}}`},
		{"damaged", `{"jsonrpc":"2.0","id":@,"result":{"x":`, `the answer of server ns could not be passed on`},
		{"untranslatable", `{"jsonrpc":"2.0","id":@,"result":1}`, `in a form that could not be passed on`},
		{"too long", `{"jsonrpc":"2.0","id":@,"result":{"x":"` + strings.Repeat("x", mostSuspendedBytes) + `"}}`, `too long to store`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDialog(t)
			our := d.call("1")
			state := d.asked("1", elicit, "0", askedBy(elicits))
			d.server.says(strings.Replace(tt.answer, "@", our, 1))
			d.g.quiet()
			d.retry("2", state, `{"0":{"action":"decline"}}`)
			d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"decline"}}`)
			got := d.client.hearsOne()
			if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,`) || !strings.Contains(got, tt.want) {
				t.Errorf("got %.1000s, want %s", got, tt.want)
			}
			d.over()
			d.retry("3", state, `{"0":{"action":"decline"}}`)
			wantCode(t, d.client.hearsOne(), "3", -32602)
			d.g.quiet()
		})
	}
}

func TestAnEndAndAMissingAnswer(t *testing.T) {
	d := newDialog(t)
	our := d.call("1")
	state := d.asked("1", roots, "0", rooted)
	d.server.says(elicit, `{"jsonrpc":"2.0","id":`+our+`,"result":{}}`)
	d.retry("2", state, "")
	d.server.wants(`{"jsonrpc":"2.0","id":7.0,"error":{"code":-32603,"message":"the call is over"}}`, `{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"cancel"}}`)
	d.client.wants(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete"}}`)
	d.over()
}

const offCall = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":%q}}`

func TestTheClientDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialog(t)
		our := d.call("1")
		state := d.asked("1", elicit, "0", askedBy(elicits))
		d.server.says(roots)
		time.Sleep(stateLifetime - 1)
		synctest.Wait()
		d.g.quiet()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		const why = "the client did not answer in time"
		d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"cancel"}}`, `{"jsonrpc":"2.0","id":7.0,"error":{"code":-32603,"message":"`+why+`"}}`,
			fmt.Sprintf(offCall, our, why))
		d.over()
		d.retry("2", state, `{"0":{}}`)
		wantCode(t, d.client.hearsOne(), "2", -32602)
		d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`) // too late
		d.g.quiet()
	})
}

func TestTheServerEndsWhileTheClientIsAway(t *testing.T) {
	d := newDialog(t)
	d.call("1")
	state := d.asked("1", elicit, "0", askedBy(elicits))
	d.call("2")
	d.retry("3", state, `{"0":{}}`)
	state = d.asked("2", roots, "0", rooted)
	d.server.hears()
	d.server.dies()
	if got := d.client.hearsOne(); idOf(t, got) != "3" || !strings.Contains(got, "server ns is gone") {
		t.Errorf("got %s", got)
	}
	d.retry("4", state, `{"0":{}}`)
	if got := d.client.hearsOne(); idOf(t, got) != "4" || codeOf(t, got) != -32602 {
		t.Errorf("got %s", got)
	}
	if n := d.g.s.Pending(); n != 0 {
		t.Errorf("%d pending", n)
	}
}

func TestTheSessionEndsWhileCallsAreSuspended(t *testing.T) {
	d := newDialog(t)
	away := d.call("1")
	d.asked("1", elicit, "0", askedBy(elicits))
	back := d.call("2")
	state := d.asked("2", roots, "0", rooted)
	d.retry("3", state, `{"0":{}}`)
	d.server.hears()
	d.g.s.Closed(io.EOF)
	d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"cancel"}}`, fmt.Sprintf(offCall, away, "the client is gone"))
	d.server.says(roots) // nobody can come back any more
	d.server.wants(`{"jsonrpc":"2.0","id":7.0,"error":{"code":-32603,"message":"the client is gone"}}`)
	d.server.says(`{"jsonrpc":"2.0","id":` + back + `,"result":{}}`)
	d.client.wants(`{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete"}}`)
	d.over()
}

func TestAbandonAnswersWhatHasComeBack(t *testing.T) {
	d := newDialog(t)
	d.call("1")
	d.asked("1", elicit, "0", askedBy(elicits))
	d.call("2")
	state := d.asked("2", roots, "0", rooted)
	d.retry("3", state, `{"0":{}}`)
	d.server.hears()
	d.g.s.Abandon()
	if got := d.client.hearsOne(); idOf(t, got) != "3" || !strings.Contains(got, "toolman is ending") {
		t.Errorf("got %s", got)
	}
}

func TestTheServerTakesItsQuestionBack(t *testing.T) {
	d := newDialog(t)
	our := d.call("1")
	state := d.asked("1", elicit, "0", askedBy(elicits))
	d.server.says(roots, fmt.Sprintf(cancelFrame, `"e\u0031"`))
	d.g.quiet()
	d.retry("2", state, `{"0":{"action":"accept"}}`)
	state = d.required("2", "1", rooted) // which is still open
	d.server.says(fmt.Sprintf(cancelFrame, `7.0`))
	d.retry("3", state, `{"1":{}}`)
	d.g.quiet()
	d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
	d.client.wants(`{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete"}}`)
	d.over()
}

func TestTheClientCancelsItsRetry(t *testing.T) {
	d := newDialog(t)
	our := d.call("1")
	state := d.asked("1", elicit, "0", askedBy(elicits))
	d.client.says(fmt.Sprintf(cancelFrame, "1")) // was answered
	d.g.quiet()
	d.retry("2", state, `{"0":{}}`)
	d.server.hears()
	d.client.says(fmt.Sprintf(cancelFrame, "1"))
	d.g.quiet()
	d.client.says(fmt.Sprintf(cancelFrame, "2"))
	d.server.wants(fmt.Sprintf(cancelFrame, our))
	d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
	d.g.quiet()
	d.over()
}

func TestProgressGoesToWhatWaits(t *testing.T) {
	d := newDialog(t)
	tokened := func(id, token, more string) string {
		return strings.Replace(capableCall(id, "tools/call", echoParams, able, more), `"_meta":{`, `"_meta":{"progressToken":`+token+`,`, 1)
	}
	d.client.says(tokened("1", `"one"`, ""))
	our := idOf(t, d.server.hearsOne())
	progress := fmt.Sprintf(progressFrame, our)
	d.server.says(progress)
	d.client.wants(fmt.Sprintf(progressFrame, `"one"`))
	state := d.asked("1", elicit, "0", askedBy(elicits))
	d.server.says(progress)
	d.g.quiet()
	d.client.says(tokened("2", `2.0`, retryMembers(state, `{"0":{}}`)))
	d.server.hears()
	d.server.says(progress)
	d.client.wants(fmt.Sprintf(progressFrame, `2.0`))
	state = d.asked("2", elicit, "1", askedBy(elicits))
	d.retry("3", state, `{"1":{}}`) // without a token
	d.server.hears()
	d.server.says(progress)
	d.g.quiet()
}

func TestLogMessagesGoToWhatWaits(t *testing.T) {
	d := newDialog(t)
	upstream.Simulate(d.server.u).Logs("debug")
	d.client.says(strings.Replace(capableCall("1", "tools/call", echoParams, able, ""), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"info",`, 1))
	d.server.hears()
	const logged = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
	d.server.says(logged)
	d.client.wants(logged)
	state := d.asked("1", elicit, "0", askedBy(elicits))
	d.server.says(logged)
	d.g.quiet()
	d.retry("2", state, `{"0":{}}`)
	d.server.hears()
	d.server.says(logged) // the new request asks for none
	d.g.quiet()
}

// A call that takes too long does so whoever it waits for.
func TestASuspendedCallTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{active: []string{"*"}, silent: true}, offer{namespace: "ns", tools: []string{"echo"}, timeout: time.Minute})
		d := &dialog{t, g, g.client, g.servers[0]}
		our := d.call("1")
		state := d.asked("1", elicit, "0", askedBy(elicits))
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		d.server.wants(fmt.Sprintf(offCall, our, "call_timeout"))
		d.client.wants()
		d.retry("2", state, `{"0":{}}`)
		checkTimedOut(t, d.client.hearsOne(), "2")
		d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{}}`)
		d.over()
	})
}

func checkTimedOut(t *testing.T, frame, id string) {
	t.Helper()
	if got := refusalOf(t, frame, mcpwire.ToolsCall, 0); idOf(t, frame) != id || !strings.Contains(got, "did not answer within 1m0s") {
		t.Errorf("got %s", frame)
	}
}

func TestSuspendedCallsAreBounded(t *testing.T) {
	d := newDialog(t)
	for i := range mostSuspended {
		id := fmt.Sprint(i)
		d.call(id)
		d.asked(id, roots, "0", rooted)
	}
	our := d.call(`"more"`)
	d.server.says(elicit)
	d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"cancel"}}`, fmt.Sprintf(offCall, our, "too many calls wait for answers of the client"))
	frame := d.client.hearsOne()
	if got := refusalOf(t, frame, mcpwire.ToolsCall, 0); idOf(t, frame) != `"more"` || !strings.HasPrefix(got, "too many calls wait for answers of the client") {
		t.Errorf("got %s", frame)
	}
}

func TestQuestionsAreBounded(t *testing.T) {
	d := newDialog(t)
	d.call("1")
	state := d.asked("1", elicit, "0", askedBy(elicits))
	for range mostQuestions - 1 {
		d.server.says(roots)
	}
	d.g.quiet()
	d.server.says(roots)
	d.server.wants(`{"jsonrpc":"2.0","id":7.0,"error":{"code":-32603,"message":"too many requests wait for answers of the client"}}`)
	d.retry("2", state, "")
	if got := d.client.hearsOne(); strings.Count(got, `"roots/list"`) != mostQuestions-1 {
		t.Errorf("got %s", got)
	}
	long := strings.Replace(elicit, "Sure?", strings.Repeat("x", mostSuspendedBytes), 1)
	d.server.says(long)
	d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"cancel"}}`)
	d.client.wants()
	fresh := newDialog(t)
	fresh.call("1")
	fresh.server.says(long)
	if got := fresh.client.hearsOne(); !strings.Contains(got, "too many calls wait") {
		t.Errorf("got %.1000s", got)
	}
	fresh.over()
}

// FuzzRetry has a client send anything as a retry: it is answered, once, and the tool
// does not run again.
func FuzzRetry(f *testing.F) {
	for _, seed := range []string{`,"requestState":@`, `,"requestState":@,"inputResponses":{"0":{}}`, `,"requestState":@,"inputResponses":{"0":{},"0":1}`, `,"inputResponses":{}`,
		`,"requestState":"","requestState":@`, `,"requestState":@,"inputResponses":null`, `,"RequestState":@`, `,"requestState":"\u0041"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, more string) {
		d := newDialog(t)
		our := d.call("1")
		state := d.asked("1", elicit, "0", askedBy(elicits))
		frame := capableCall("2", "tools/call", echoParams, able, strings.ReplaceAll(more, "@", state))
		var m jsonrpc.Message
		retry, err := inputreq.Retry{}, jsonrpc.Scan([]byte(frame), &m)
		if err == nil {
			retry, err = inputreq.RetryOf(&m)
		}
		if err == nil && !retry.Is() {
			return // it is a call of its own
		}
		d.client.says(frame)
		if n := callsIn(t, d.server.hears()); n > 0 {
			t.Errorf("the tool runs again for %s", frame)
		}
		d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
		answered := 0
		for _, got := range d.client.hears() {
			if id := idOf(t, got); id == "2" {
				answered++
			}
		}
		if answered > 1 {
			t.Errorf("answered %d times: %s", answered, frame)
		}
		d.g.s.Closed(io.EOF)
		d.over()
	})
}
