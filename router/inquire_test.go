package router

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// 2026-07-28, Tools, Error Handling: -32021 names what is missing.
func TestAServerAsksWhatTheClientCannotDo(t *testing.T) {
	for _, tt := range []struct{ name, capabilities, question, code, data string }{
		{"sampling", `{}`, `{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{}}`, "-32601", `{"sampling":{}}`},
		{"a URL", `{"elicitation":{"form":{}}}`, `{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"mode":"url","message":"m"}}`, "-32601", `{"elicitation":{"url":{}}}`},
		{"roots", `{"elicitation":{}}`, `{"jsonrpc":"2.0","id":5,"method":"roots/list"}`, "-32601", `{"roots":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDialog(t)
			d.client.says(capableCall(`"c"`, "tools/call", echoParams, tt.capabilities, ""))
			our := idOf(t, d.server.hearsOne())
			d.server.says(tt.question)
			quoted, _ := json.Marshal("the client has not declared the capability " + tt.data)
			d.server.wants(`{"jsonrpc":"2.0","id":5,"error":{"code":`+tt.code+`,"message":`+string(quoted)+`}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+our+`,"reason":"the client cannot be asked what the server asks"}}`)
			got := d.client.hearsOne()
			wantCode(t, got, `"c"`, -32021)
			if !strings.HasSuffix(got, `"data":{"requiredCapabilities":`+tt.data+`}}}`) {
				t.Errorf("got %s", got)
			}
			d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
			d.g.quiet()
			d.over()
		})
	}
}

func TestTheClientHearsOfAMissingCapabilityWhenItComesBack(t *testing.T) {
	d := newDialog(t)
	d.client.says(capableCall("1", "tools/call", echoParams, `{"roots":{}}`, ""))
	d.server.hears()
	state := d.asked("1", roots, "0", rooted)
	d.server.says(elicit)
	if got := d.server.hears(); len(got) != 2 {
		t.Errorf("the server got %q", got)
	}
	d.client.wants()
	d.retry("2", state, `{"0":{}}`)
	wantCode(t, d.client.hearsOne(), "2", -32021)
	d.server.wants(`{"jsonrpc":"2.0","id":7.0,"result":{}}`)
	d.over()
}

// What a client can do, it says anew with each request.
func TestARetryThatDeclaresLess(t *testing.T) {
	d := newDialog(t)
	our := d.call("1")
	state := d.asked("1", roots, "0", rooted)
	d.server.says(elicit)
	d.client.says(capableCall("2", "tools/call", echoParams, `{"roots":{}}`, retryMembers(state, "")))
	wantCode(t, d.client.hearsOne(), "2", -32021)
	d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","error":{"code":-32601,"message":"the client has not declared the capability {\"elicitation\":{}}"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+our+`,"reason":"the client cannot be asked what the server asks"}}`,
		`{"jsonrpc":"2.0","id":7.0,"error":{"code":-32603,"message":"the call is over"}}`)
	d.over()
}

func TestWhoIsAsked(t *testing.T) {
	d := newDialog(t)
	const none = `{"jsonrpc":"2.0","id":7.0,"error":{"code":-32601,"message":"no request of the client is open during which it could be asked"}}`
	d.client.asks(modernCall("0", "tools/list", "", ""))
	d.server.says(roots) // as most servers do when they start
	d.server.wants(none)
	d.client.says(modernCall("1", "completion/complete", `"ref":{"type":"ref/prompt","name":"ns_p"}`, ""))
	d.server.hears()
	d.server.says(roots) // a completion takes no input
	d.server.wants(none)
	d.server.says(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}`)
	if got := d.server.hearsOne(); codeOf(t, got) != -32601 {
		t.Errorf("got %s", got)
	}
	first := d.call("2")
	d.client.says(capableCall("3", "tools/call", `"name":"ns_other"`, able, ""))
	d.server.hears()
	d.asked("3", roots, "0", rooted) // the newest
	d.server.says(`{"jsonrpc":"2.0","id":` + first + `,"result":{}}`)
	d.client.wants(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete"}}`)
}

func TestALegacySessionBesideModernCallsIsAskedAsBefore(t *testing.T) {
	d := newDialog(t)
	d.client.initialize("")
	d.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.client.hears()
	d.server.hears()
	our := d.call("1")
	state := d.asked("1", roots, "0", rooted)
	d.retry("2", state, `{"0":{}}`)
	d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
	d.client.hears()
	d.server.hears()
	d.server.says(roots)
	asked := d.client.hearsOne()
	if want := `{"jsonrpc":"2.0","id":` + idOf(t, asked) + `,"method":"roots/list"}`; asked != want {
		t.Errorf("got %s, want %s", asked, want)
	}
}

func TestQuestionsThatAreNone(t *testing.T) {
	d := newDialog(t)
	d.call("1")
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":5,"method":"elicitation/create"}`, `{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":[]}`,
		`{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"elicitationId":1,"elicitationId":2}}`,
	} {
		d.server.says(frame)
		wantCode(t, d.server.hearsOne(), "5", -32602)
		d.g.quiet()
	}
}

const urlError = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"go","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x/?a&b","message":"m"}]}}}`

func TestAnErrorThatSendsTheUserToAURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialog(t)
		our := d.call("1")
		const visit = `{"method":"elicitation/create","params":{"mode":"url","url":"https://x/?a&b","message":"Server ns asks: m"}}`
		state := d.asked("1", fmt.Sprintf(urlError, our), "0", visit)
		d.over() // the call is

		d.retry("2", state, `{"0":{"action":"decline"}}`)
		if got := d.client.hearsOne(); idOf(t, got) != "2" || !strings.Contains(got, "the user has not agreed;") {
			t.Errorf("got %s", got)
		}
		d.client.says(capableCall("3", "tools/call", `"name":"ns_other","arguments":{"n":1.0}`, able, retryMembers(state, `{"0":{"action":"accept"}}`)))
		wantCode(t, d.client.hearsOne(), "3", -32602)
		d.g.quiet()

		d.retry("4", state, `{"0":{"action":"accept"}}`)
		again := d.server.hearsOne()
		our = idOf(t, again)
		if want := `{"jsonrpc":"2.0","id":` + our + `,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.0}}}`; again != want {
			t.Errorf("got %s, want %s", again, want)
		}
		d.server.says(`{"jsonrpc":"2.0","id":` + our + `,"result":{}}`)
		d.client.wants(`{"jsonrpc":"2.0","id":4,"result":{"resultType":"complete"}}`)

		time.Sleep(stateLifetime + 1)
		d.retry("5", state, `{"0":{"action":"accept"}}`)
		wantCode(t, d.client.hearsOne(), "5", -32602)
		d.g.quiet()
		d.over()
	})
}

func TestAURLForAClientThatShowsNone(t *testing.T) {
	d := newDialog(t)
	for _, tt := range []struct{ capabilities, answer, want string }{
		{`{"elicitation":{}}`, urlError, `"code":-32021,`},
		{able, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"go"}}`, `could not be passed on`},
	} {
		d.client.says(capableCall("1", "tools/call", echoParams, tt.capabilities, ""))
		d.server.says(fmt.Sprintf(tt.answer, idOf(t, d.server.hearsOne())))
		if got := d.client.hearsOne(); !strings.Contains(got, tt.want) {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		d.over()
	}
}

// When a resumed call ends in such an error, the client is sent there, and what runs
// again is what the client makes again.
func TestAURLAfterAQuestion(t *testing.T) {
	d := newDialog(t)
	our := d.call("1")
	state := d.asked("1", elicit, "0", askedBy(elicits))
	d.server.says(fmt.Sprintf(urlError, our))
	d.g.quiet()
	d.retry("2", state, `{"0":{}}`)
	got := d.client.hearsOne()
	if idOf(t, got) != "2" || !strings.Contains(got, `"url":"https://x/?a&b"`) {
		t.Errorf("got %s", got)
	}
	if n := callsIn(t, slices.Clone(d.server.hears())); n != 0 {
		t.Errorf("the tool has run %d times more", n)
	}
	d.over()
}
