package router

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/router/session"
)

// A dialog is a modern client with all capabilities, in front of a legacy server.
type dialog struct {
	t              testing.TB
	g              *rig
	client, server *link
}

func newDialog(t testing.TB) *dialog {
	o := various()
	o.tools = append(o.tools, "other")
	g := newRig(t, setup{active: []string{"*"}, silent: true}, o)
	return &dialog{t, g, g.client, g.servers[0]}
}

const able = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// capableCall is a request of a modern client with these capabilities, and with more
// members in its params.
func capableCall(id, method, params, capabilities, more string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}` + more + `}}`
}

const echoParams = `"name":"ns_echo","arguments":{"n":1.0}`

// call makes a call and returns the id that the server knows it by.
func (d *dialog) call(id string) (our string) {
	d.t.Helper()
	d.client.says(capableCall(id, "tools/call", echoParams, able, ""))
	got := d.server.hearsOne()
	our = idOf(d.t, got)
	if want := `{"jsonrpc":"2.0","id":` + our + `,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.0}}}`; got != want {
		d.t.Fatalf("the server got %s, want %s", got, want)
	}
	return our
}

// asked has the server ask, and checks that the request with this id is answered with that:
// key and what is asked, in turn. It returns the state.
func (d *dialog) asked(id, question string, asks ...string) (state string) {
	d.t.Helper()
	d.server.says(question)
	return d.required(id, asks...)
}

func (d *dialog) required(id string, asks ...string) (state string) {
	d.t.Helper()
	got := d.client.hearsOne()
	m := scanned(d.t, got)
	at, _ := m.Get(m.Result, "requestState")
	state = string(m.Bytes(at))
	var requests []string
	for i := 0; i < len(asks); i += 2 {
		requests = append(requests, fmt.Sprintf("%q:%s", asks[i], asks[i+1]))
	}
	want := `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required","inputRequests":{` + strings.Join(requests, ",") + `},"requestState":` + state + `}}`
	if got != want {
		d.t.Fatalf("the client got\n%s, want\n%s", got, want)
	}
	return state
}

// retry makes the call again, with answers.
func (d *dialog) retry(id, state, answers string) {
	d.t.Helper()
	d.client.says(capableCall(id, "tools/call", echoParams, able, retryMembers(state, answers)))
}

func retryMembers(state, answers string) string {
	more := `,"requestState":` + state
	if answers != "" {
		more = `,"inputResponses":` + answers + more
	}
	return more
}

// callsIn counts how often the server was asked to do something.
func callsIn(t testing.TB, frames []string) (n int) {
	for _, method := range methodsOf(t, frames) {
		if method == "tools/call" {
			n++
		}
	}
	return n
}

const (
	elicit  = `{"jsonrpc":"2.0","id":"e\u0031","method":"elicitation/create","params":{"message":"Sure? \u0041","requestedSchema":{"x":1.0}}}`
	elicits = `{"method":"elicitation/create","params":{"message":"Sure? \u0041","requestedSchema":{"x":1.0}}}`
	roots   = `{"jsonrpc":"2.0","id":7.0,"method":"roots/list"}`
	rooted  = `{"method":"roots/list"}`
)

// askedBy is what the server asks as the client gets it.
func askedBy(asks string) string {
	return strings.ReplaceAll(asks, `"message":"`, `"message":"Server ns asks: `)
}

func TestALegacyServerAsksDuringAModernCall(t *testing.T) {
	for _, tt := range []struct{ name, id, method, params, asked string }{
		{"a form", `"e\u0031"`, "elicitation/create", `{"message":"Sure? \u0041","requestedSchema":{"x":1.0}}`, `,"params":{"message":"Server ns asks: Sure? \u0041","requestedSchema":{"x":1.0}}`},
		{"a URL", `0`, "elicitation/create", `{"mode":"url","elicitationId":"x","url":"https://x/?a&b","message":"m"}`, `,"params":{"mode":"url","url":"https://x/?a&b","message":"Server ns asks: m"}`},
		{"sampling", `-1.50`, "sampling/createMessage", `{"messages":[1E2],"_meta":{"progressToken":1}}`, `,"params":{"messages":[1E2]}`},
		{"roots", `1`, "roots/list", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDialog(t)
			our := d.call("1")
			question := `{"jsonrpc":"2.0","id":` + tt.id + `,"method":"` + tt.method + `"`
			if tt.params != "" {
				question += `,"params":` + tt.params
			}
			state := d.asked("1", question+"}", "0", `{"method":"`+tt.method+`"`+tt.asked+"}")
			if n := d.g.s.Pending(); n != 0 {
				t.Errorf("%d pending while the client is away", n)
			}
			const answer = `{ "a":[1E2,"\/<"]}`
			d.retry(`"two"`, state, `{"0":`+answer+`}`)
			d.server.wants(`{"jsonrpc":"2.0","id":` + tt.id + `,"result":` + answer + `}`)
			if n := d.g.s.Pending(); n != 1 {
				t.Errorf("%d pending, want 1", n)
			}
			d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{"content":[]}}`)
			d.client.wants(`{"jsonrpc":"2.0","id":"two","result":{"resultType":"complete","content":[]}}`)
			d.g.quiet()
			d.over()
		})
	}
}

// over checks that nothing is left of any call.
func (d *dialog) over() {
	d.t.Helper()
	all := session.Simulate(d.g.s).Held()
	if n, p := d.server.u.Calls.Len(), d.g.s.Pending(); n > 0 || p > 0 || all.Suspended > 0 || all.Bytes != 0 {
		d.t.Errorf("%d calls are left, %d pending, %d suspended with %d bytes", n, p, all.Suspended, all.Bytes)
	}
}

func TestAQuestionThatWasTakenBackIsNotAnswered(t *testing.T) {
	d := newDialog(t)
	our := d.call("1")
	state := d.asked("1", elicit, "0", askedBy(elicits))
	d.server.says(fmt.Sprintf(cancelFrame, `"e\u0031"`))
	d.retry("2", state, `{"0":{"action":"accept"}}`)
	d.g.quiet()
	d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{"content":[]}}`)
	d.client.wants(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}`)
	d.over()
}

func TestPromptsAndResourcesAreSuspendedToo(t *testing.T) {
	for method, params := range map[string]string{"prompts/get": `"name":"ns_p","arguments":{}`, "resources/read": `"uri":"ns_r://x"`} {
		d := newDialog(t)
		d.client.says(capableCall("1", method, params, able, ""))
		our := idOf(t, d.server.hearsOne())
		state := d.asked("1", roots, "0", rooted)
		d.client.says(capableCall("2", method, params, able, retryMembers(state, `{"0":{}}`)))
		d.server.wants(`{"jsonrpc":"2.0","id":7.0,"result":{}}`)
		d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"error":{"code":-32002,"message":"no"}}`)
		d.client.wants(`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}`)
		d.over()
	}
}

// A server may ask again and again, and several things at once.
func TestRoundAfterRound(t *testing.T) {
	d := newDialog(t)
	our := d.call("1")
	state := d.asked("1", roots, "0", rooted)
	d.server.says(elicit, `{"jsonrpc":"2.0","id":8,"method":"sampling/createMessage","params":{}}`)
	d.g.quiet() // they wait for the client
	d.retry("2", state, `{"0":{"roots":[]}}`)
	d.server.wants(`{"jsonrpc":"2.0","id":7.0,"result":{"roots":[]}}`)
	const sampling = `{"method":"sampling/createMessage","params":{}}`
	state = d.required("2", "1", askedBy(elicits), "2", sampling)

	d.retry("3", state, `{"2":{"s":1},"0":{"roots":["again"]}}`) // an answer is missing, and one was given before
	d.server.wants(`{"jsonrpc":"2.0","id":8,"result":{"s":1}}`)
	state = d.required("3", "1", askedBy(elicits))
	d.retry("4", state, "")
	state = d.required("4", "1", askedBy(elicits))
	d.retry("5", state, `{"1":{"action":"accept"}}`)
	d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"accept"}}`)

	d.server.says(roots)
	m := scanned(t, d.client.hearsOne())
	asks, _ := m.Get(m.Result, "inputRequests")
	for _, old := range []string{"0", "1", "2"} {
		if at, _ := m.Get(asks, old); at.Present() {
			t.Errorf("the key %s is used again: %s", old, m.Frame)
		}
	}
	at, _ := m.Get(m.Result, "requestState")
	var key string
	for key = range jsonrpc.Members(m.Frame, asks) {
	}
	d.retry("6", string(m.Bytes(at)), `{"`+key+`":{"roots":[]}}`)
	d.server.wants(`{"jsonrpc":"2.0","id":7.0,"result":{"roots":[]}}`)
	d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
	d.client.wants(`{"jsonrpc":"2.0","id":6,"result":{"resultType":"complete"}}`)
	d.over()
}

// wantCode checks that a request is answered with an error.
func wantCode(t testing.TB, frame, id string, code int) {
	t.Helper()
	if codeOf(t, frame) != code || idOf(t, frame) != id {
		t.Errorf("got %.1000s, want the code %d for %s", frame, code, id)
	}
}

// A tool must not run twice, nor an answer reach the wrong call.
func TestARetryThatIsNotOne(t *testing.T) {
	d := newDialog(t)
	our := d.call("1")
	state := d.asked("1", elicit, "0", askedBy(elicits))
	other := newDialog(t)
	other.call("1")
	foreign := other.asked("1", elicit, "0", askedBy(elicits))
	const yes = `{"0":{"action":"accept"}}`
	good := retryMembers(state, yes)
	swapped := []byte(state)
	swapped[20], swapped[21] = swapped[21]^1, swapped[20]
	for _, tt := range []struct{ name, frame string }{
		{"no state", capableCall("2", "tools/call", echoParams, able, `,"inputResponses":`+yes)},
		{"an empty state", capableCall("2", "tools/call", echoParams, able, retryMembers(`""`, yes))},
		{"a state that is no string", capableCall("2", "tools/call", echoParams, able, retryMembers(`1`, yes))},
		{"a state with a byte changed", capableCall("2", "tools/call", echoParams, able, retryMembers(string(swapped), yes))},
		{"a longer state", capableCall("2", "tools/call", echoParams, able, retryMembers(strings.TrimSuffix(state, `"`)+`A"`, yes))},
		{"another toolman's state", capableCall("2", "tools/call", echoParams, able, retryMembers(foreign, yes))},
		{"two states", capableCall("2", "tools/call", echoParams, able, good+`,"requestState":`+state)},
		{"other arguments", capableCall("2", "tools/call", `"name":"ns_echo","arguments":{"n":1.1}`, able, good)},
		{"arguments of other bytes", capableCall("2", "tools/call", `"name":"ns_echo","arguments":{"n":1.00}`, able, good)},
		{"no arguments", capableCall("2", "tools/call", `"name":"ns_echo"`, able, good)},
		{"another tool", capableCall("2", "tools/call", `"name":"ns_other","arguments":{"n":1.0}`, able, good)},
		{"another method", capableCall("2", "prompts/get", `"name":"ns_p","arguments":{"n":1.0}`, able, good)},
		{"answers that are none", capableCall("2", "tools/call", echoParams, able, retryMembers(state, `[]`))},
		{"an answer that is none", capableCall("2", "tools/call", echoParams, able, retryMembers(state, `{"0":"accept"}`))},
		{"two answers", capableCall("2", "tools/call", echoParams, able, retryMembers(state, `{"0":{},"0":{}}`))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := d.client.asks(tt.frame)
			wantCode(t, got, "2", -32602)
			d.g.quiet()
		})
	}
	d.client.says(capableCall("3", "tools/call", `"name":"ns_\u0065cho","arguments":{"n":1.0},"x":1`, able, good)) // the same, spelled otherwise
	d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"accept"}}`)
	d.retry("4", state, yes)
	wantCode(t, d.client.hearsOne(), "4", -32602)
	d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
	d.client.wants(`{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete"}}`)
	d.retry("5", state, yes)
	got := d.client.hearsOne()
	wantCode(t, got, "5", -32602)
	if !strings.Contains(got, "make it anew without inputResponses and requestState") {
		t.Errorf("says %s", got)
	}
	d.g.quiet()
}

// Each round has its own time.
func TestTheTimeBeginsAnewWithEachRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialog(t)
		d.call("1")
		state := d.asked("1", elicit, "0", askedBy(elicits))
		for i := range 3 {
			time.Sleep(stateLifetime - 1)
			id := fmt.Sprint(i + 2)
			d.retry(id, state, "")
			state = d.required(id, "0", askedBy(elicits))
		}
		d.retry("9", state, `{"0":{}}`)
		d.server.hears()
		time.Sleep(2 * stateLifetime)
		synctest.Wait()
		d.g.quiet() // a server may take its time
	})
}

// toolman_call is the call of the tool that it names, also the second time.
func TestACallThroughToolmanCallIsSuspendedToo(t *testing.T) {
	d := newDialog(t)
	const through = `"name":"toolman_call","arguments":{"name":"ns_echo","arguments":{"n":1.0}}`
	d.client.says(capableCall("1", "tools/call", through, able, ""))
	our := idOf(t, d.server.hearsOne())
	state := d.asked("1", elicit, "0", askedBy(elicits))
	d.client.says(capableCall("2", "tools/call", strings.Replace(through, "1.0", "2.0", 1), able, retryMembers(state, `{"0":{}}`)))
	wantCode(t, d.client.hearsOne(), "2", -32602)
	d.client.says(capableCall("3", "tools/call", through, able, retryMembers(state, `{"0":{"action":"accept"}}`)))
	d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"accept"}}`)
	d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
	d.client.wants(`{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete"}}`)
	d.over()
}
