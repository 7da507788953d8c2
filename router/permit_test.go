package router

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/session"
)

const confirmAsk = `{"method":"elicitation/create","params":{` + mayEcho + `It gets these arguments:\n  \"n\": 1.0","requestedSchema":{"type":"object","properties":{}}}}`

const agree = `{"confirm":{"action":"accept"}}`

// A modern client in front of a server of either era.
func newCautiousDialog(t testing.TB, modern bool) *dialog {
	t.Helper()
	g := newCautious(t, setup{silent: true}, modern)
	return &dialog{t, g.rig, g.client, g.server}
}

// demanded makes the call and returns the state that the client is to come back with.
func (d *dialog) demanded(id string) (state string) {
	d.t.Helper()
	d.client.says(capableCall(id, "tools/call", echoParams, able, ""))
	state = d.required(id, "confirm", confirmAsk)
	d.server.wants()
	return state
}

// ran is the call as the server gets it, and what it knows it by.
func (d *dialog) ran() (our string) {
	d.t.Helper()
	got := d.server.hearsOne()
	if strings.Contains(got, "requestState") || strings.Contains(got, "inputResponses") || !strings.Contains(got, `"name":"echo","arguments":{"n":1.0}`) {
		d.t.Fatalf("the server got %s", got)
	}
	return idOf(d.t, got)
}

// bothEras runs a test with a legacy and a modern server.
func bothEras(t *testing.T, test func(t *testing.T, modern bool)) {
	for name, modern := range map[string]bool{"legacy server": false, "modern server": true} {
		t.Run(name, func(t *testing.T) { test(t, modern) })
	}
}

func TestAModernClientComesBackWithConsent(t *testing.T) {
	bothEras(t, func(t *testing.T, modern bool) {
		d := newCautiousDialog(t, modern)
		state := d.demanded("1")
		if n := d.g.s.Pending(); n != 0 {
			t.Errorf("%d requests are pending", n)
		}
		d.retry("2", state, agree)
		our := d.ran()
		d.client.wants()
		answer, want := `{"content":[]}`, `{"resultType":"complete","content":[]}`
		if modern {
			answer = want
		}
		d.server.says(reply(our, answer))
		d.client.wants(reply("2", want))
	})
}

// What is refused runs nothing, and leaves what is still good as it was.
func TestAStateIsGoodForOneRunOfOneCall(t *testing.T) {
	bothEras(t, func(t *testing.T, modern bool) {
		d := newCautiousDialog(t, modern)
		state := d.demanded("1")
		forged := `"B` + state[2:]
		if state[1] == 'B' {
			forged = `"A` + state[2:]
		}
		for name, bad := range map[string]string{
			"forged":          capableCall("3", "tools/call", echoParams, able, retryMembers(forged, agree)),
			"made up":         capableCall("3", "tools/call", echoParams, able, retryMembers(`"x"`, agree)),
			"no state":        capableCall("3", "tools/call", echoParams, able, `,"inputResponses":`+agree),
			"no answers":      capableCall("3", "tools/call", echoParams, able, `,"requestState":""`),
			"other arguments": capableCall("3", "tools/call", `"name":"ns_echo","arguments":{"n":2.0}`, able, retryMembers(state, agree)),
			"no arguments":    capableCall("3", "tools/call", `"name":"ns_echo"`, able, retryMembers(state, agree)),
			"no string":       capableCall("3", "tools/call", echoParams, able, retryMembers(`1`, agree)),
		} {
			if got := d.client.asks(bad); codeOf(t, got) != -32602 {
				t.Errorf("%s: got %s", name, got)
			}
			d.server.wants()
		}
		d.retry("2", state, agree)
		d.server.says(reply(d.ran(), `{"resultType":"complete"}`))
		d.client.hearsOne()
		d.retry("4", state, agree)
		wantCode(t, d.client.hearsOne(), "4", -32602)
		d.g.quiet()
	})
}

func TestAModernClientComesBackWithoutConsent(t *testing.T) {
	for answer, why := range map[string]string{
		`{"action":"decline"}`: "the person at the client declined", `{"action":"cancel"}`: "the person at the client dismissed", `{}`: "the client's answer is not consent",
	} {
		d := newCautiousDialog(t, true)
		state := d.demanded("1")
		d.retry("2", state, `{"confirm":`+answer+`}`)
		wantNotRun(t, d.client.hearsOne(), "2", why)
		d.retry("3", state, agree) // too late
		wantCode(t, d.client.hearsOne(), "3", -32602)
		d.g.quiet()
	}
	d := newCautiousDialog(t, false)
	d.retry("2", d.demanded("1"), `{"other":{"action":"accept"}}`) // asked once more
	d.retry("3", d.required("2", "confirm", confirmAsk), agree)
	d.ran()
}

func TestAModernClientThatCannotAskIsRefused(t *testing.T) {
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		d := newCautiousDialog(t, true)
		got := d.client.asks(capableCall("1", "tools/call", echoParams, capabilities, ""))
		wantCode(t, got, "1", -32021)
		if !strings.Contains(got, `"data":{"requiredCapabilities":{"elicitation":{`) || !strings.Contains(got, "dangerous: asks first (tools.toml:12); tool ns_echo was not run") {
			t.Errorf("got %s", got)
		}
		d.g.quiet()
	}
}

func TestConsentExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newCautiousDialog(t, false)
		state := d.demanded("1")
		time.Sleep(stateLifetime + 1)
		d.retry("2", state, agree)
		wantCode(t, d.client.hearsOne(), "2", -32602)
		d.g.quiet()
		d.demanded("3")
		if n := session.Simulate(d.g.s).Held().Permits; n != 1 {
			t.Errorf("%d permits are kept", n)
		}
	})
}

func TestTheOldestQuestionsAreForgotten(t *testing.T) {
	d := newCautiousDialog(t, false)
	first, second := d.demanded("1"), d.demanded("1")
	for range mostPermits - 1 {
		d.demanded("1")
	}
	d.retry("2", first, agree)
	wantCode(t, d.client.hearsOne(), "2", -32602)
	d.retry("3", second, agree)
	d.ran()
}

// toolman_call is the road of clients that do not list again.
func TestConsentThroughToolmanCall(t *testing.T) {
	d := newCautiousDialog(t, true)
	const through = `"name":"toolman_call","arguments":{"name":"ns_echo","arguments":{"n":1.0}}`
	d.client.says(capableCall("1", "tools/call", through, able, ""))
	state := d.required("1", "confirm", confirmAsk)
	d.client.says(capableCall("2", "tools/call", `"name":"toolman_call","arguments":{"name":"ns_echo","arguments":{"n":2.0}}`, able, retryMembers(state, agree)))
	wantCode(t, d.client.hearsOne(), "2", -32602)
	d.client.says(capableCall("3", "tools/call", through, able, retryMembers(state, agree)))
	d.ran()
}

// The server's own questions come after toolman's, in all four pairs of eras; the tool
// runs once.
func TestAServerAsksAModernClientAfterConsent(t *testing.T) {
	t.Run("legacy server", func(t *testing.T) {
		d := newCautiousDialog(t, false)
		d.retry("2", d.demanded("1"), agree)
		our := d.ran()
		state := d.asked("2", elicit, "0", askedBy(elicits))
		d.retry("3", state, `{"0":{"action":"decline"}}`)
		d.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":{"action":"decline"}}`)
		d.server.says(reply(our, `{"content":[]}`))
		d.client.wants(reply("3", `{"resultType":"complete","content":[]}`))
		d.retry("4", state, `{"0":{"action":"decline"}}`)
		wantCode(t, d.client.hearsOne(), "4", -32602)
		d.over()
	})
	t.Run("modern server", func(t *testing.T) {
		d := newCautiousDialog(t, true)
		d.retry("2", d.demanded("1"), agree)
		required := `{"resultType":"input_required","inputRequests":{"q":` + elicits + `},"requestState":"s\u0031"}`
		d.server.says(reply(d.ran(), required))
		d.client.wants(reply("2", askedBy(required)))
		answers := `{"q":{"action":"accept"}}`
		d.client.says(capableCall("3", "tools/call", `"name":"ns_echo","arguments":{"n":2.0}`, able, retryMembers(`"s1"`, answers)))
		wantCode(t, d.client.hearsOne(), "3", -32602) // that is not what was agreed to
		d.retry("4", `"s1"`, answers)
		got := d.server.hearsOne()
		if !strings.Contains(got, `"inputResponses":`+answers+`,"requestState":"s1"`) {
			t.Errorf("the server got %s", got)
		}
		d.retry("5", `"s1"`, answers)
		wantCode(t, d.client.hearsOne(), "5", -32602)
		d.server.wants()
		d.server.says(reply(idOf(t, got), `{"resultType":"input_required","inputRequests":{"q":`+elicits+`}}`)) // once more, and without a state
		d.client.hearsOne()
		d.client.says(capableCall("6", "tools/call", echoParams, able, `,"inputResponses":`+answers))
		d.server.says(reply(idOf(t, d.server.hearsOne()), `{"resultType":"complete"}`))
		d.client.wants(reply("6", `{"resultType":"complete"}`))
	})
}

// The retry of a call that a person has agreed to is refused when the tool is another by then:
// whether the client brings the consent, or what a server wants in addition.
func TestConsentIsForOneDefinition(t *testing.T) {
	const why = "it was changed by its server while a person was asked"
	another := func(g *rig, server *link) {
		server.lists(0, `{"name":"echo","description":"harmless, really"}`, "other")
		g.r.update()
	}
	bothEras(t, func(t *testing.T, modern bool) {
		d := newCautiousDialog(t, modern)
		state := d.demanded("1")
		another(d.g, d.server)
		d.retry("2", state, agree)
		wantNotRun(t, d.client.hearsOne(), "2", why)
		d.retry("3", state, agree) // the consent is used up
		wantCode(t, d.client.hearsOne(), "3", -32602)
		d.retry("5", d.demanded("4"), agree) // to what there is now
		d.ran()
	})
	required := `{"resultType":"input_required","inputRequests":{"q":` + elicits + `},"requestState":"s"}`
	t.Run("during a round of a modern server and client", func(t *testing.T) {
		d := newCautiousDialog(t, true)
		d.retry("2", d.demanded("1"), agree)
		d.server.says(reply(d.ran(), required))
		d.client.hearsOne()
		another(d.g, d.server)
		d.retry("3", `"s"`, `{"q":`+accept+`}`)
		wantNotRun(t, d.client.hearsOne(), "3", why)
		d.server.wants()
	})
	t.Run("during a round of a modern server and a legacy client", func(t *testing.T) {
		g := newCautious(t, setup{}, true)
		g.client.says(fmt.Sprintf(echo, "5", "{}"))
		g.client.says(reply(g.asked(withNothing), accept))
		g.server.says(reply(idOf(t, g.server.hearsOne()), required))
		ask := idOf(t, g.client.hearsOne())
		another(g.rig, g.server)
		g.client.hears()
		g.client.says(reply(ask, accept))
		wantNotRun(t, g.client.hearsOne(), "5", why)
		g.quiet()
	})
	t.Run("during a visit to a URL", func(t *testing.T) {
		d := newCautiousDialog(t, false)
		d.retry("2", d.demanded("1"), agree)
		d.server.says(fmt.Sprintf(urlError, d.ran()))
		m := scanned(t, d.client.hearsOne())
		at, _ := m.Get(m.Result, "requestState")
		another(d.g, d.server)
		d.retry("3", string(m.Bytes(at)), `{"0":`+accept+`}`)
		wantNotRun(t, d.client.hearsOne(), "3", why)
		d.server.wants()
	})
}

func TestAServerAsksALegacyClientAfterConsent(t *testing.T) {
	t.Run("legacy server", func(t *testing.T) {
		g := newCautious(t, setup{}, false)
		g.client.says(fmt.Sprintf(echo, "5", "{}"))
		g.client.says(reply(g.asked(withNothing), accept))
		our := idOf(t, g.server.hearsOne())
		g.server.says(elicit)
		g.client.says(reply(idOf(t, g.client.hearsOne()), accept))
		g.server.wants(`{"jsonrpc":"2.0","id":"e\u0031","result":` + accept + `}`)
		g.server.says(reply(our, `{"content":[]}`))
		g.client.wants(reply("5", `{"content":[]}`))
	})
	t.Run("modern server", func(t *testing.T) {
		g := newCautious(t, setup{}, true)
		g.client.says(fmt.Sprintf(echo, "5", "{}"))
		g.client.says(reply(g.asked(withNothing), accept))
		g.server.says(reply(idOf(t, g.server.hearsOne()), `{"resultType":"input_required","inputRequests":{"q":`+elicits+`},"requestState":"s"}`))
		g.client.says(reply(idOf(t, g.client.hearsOne()), accept))
		again := g.server.hearsOne()
		if !strings.Contains(again, `"inputResponses":{"q":`+accept+`},"requestState":"s"`) {
			t.Errorf("the server got %s", again)
		}
		g.server.says(reply(idOf(t, again), `{"resultType":"complete","content":[]}`))
		g.client.wants(reply("5", `{"content":[]}`))
		g.quiet()
	})
}

// After a visit to a URL the call is made again: once, for one consent.
func TestAServerSendsToAURLAfterConsent(t *testing.T) {
	d := newCautiousDialog(t, false)
	d.retry("2", d.demanded("1"), agree)
	d.server.says(`{"jsonrpc":"2.0","id":` + d.ran() + `,"error":{"code":-32042,"message":"sign in","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x","message":"m"}]}}}`)
	state := d.required("2", "0", `{"method":"elicitation/create","params":{"mode":"url","url":"https://x","message":"Server ns asks: m"}}`)
	d.retry("3", state, `{"0":{"action":"accept"}}`)
	d.ran()
	d.retry("4", state, `{"0":{"action":"accept"}}`)
	wantCode(t, d.client.hearsOne(), "4", -32602)
	d.server.wants()
}
