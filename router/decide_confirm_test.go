package router

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/audit"
	"toolman/router/policy"
)

// How calls of dangerous tools are audited: what a person has decided is the verdict, and
// dangerous_tools a part of the rule.
func TestConsentIsAudited(t *testing.T) {
	const asks = "dangerous: asks first (tools.toml:12)"
	for name, tt := range map[string]struct {
		play func(g *cautious)
		want []string
	}{
		"given": {func(g *cautious) {
			ask := callEcho(g)
			time.Sleep(time.Second)
			g.client.says(reply(ask, accept))
			time.Sleep(time.Second)
			g.answerAll()
		}, []string{"confirmed ok 2000"}},
		"declined":     {func(g *cautious) { g.client.says(reply(callEcho(g), `{"action":"decline"}`)) }, []string{"declined refused 0"}},
		"dismissed":    {func(g *cautious) { g.client.says(reply(callEcho(g), `{"action":"cancel"}`)) }, []string{"declined refused 0"}},
		"not answered": {func(g *cautious) { callEcho(g) }, []string{"unconfirmed refused 600000"}},
		"an error": {func(g *cautious) {
			g.client.says(`{"jsonrpc":"2.0","id":` + callEcho(g) + `,"error":{"code":1,"message":"m"}}`)
		}, []string{"unconfirmed refused 0"}},
		"cancelled meanwhile": {func(g *cautious) { callEcho(g); g.client.says(fmt.Sprintf(cancelFrame, "1")) }, []string{"asked cancelled 0"}},
		"too late for its server": {func(g *cautious) {
			ask := callEcho(g)
			g.server.dies()
			g.client.says(reply(ask, accept))
		}, []string{"asked gone 0"}},
		"given and cancelled": {func(g *cautious) {
			g.client.says(reply(callEcho(g), accept), fmt.Sprintf(cancelFrame, "1"))
		}, []string{"confirmed cancelled 0"}},
		"given to what is switched off by then": {func(g *cautious) {
			ask := callEcho(g)
			g.client.says(activation{toolsOff: []string{"ns_echo"}}.frame("2"), reply(ask, accept))
		}, []string{"allowed ok 0", "inactive refused 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, lines := auditTo(t)
				g := newCautious(t, setup{}, false)
				g.s.Audit = w
				g.r.clock.EnableTiming()
				tt.play(g)
				time.Sleep(time.Hour)
				synctest.Wait()
				all := lines()
				var got []string
				for _, l := range all {
					got = append(got, fmt.Sprintf("%s %s %v", l.Verdict, l.Outcome, l.DurationMS))
					if strings.HasSuffix(l.Rule, asks) == (l.Verdict == audit.Allowed || l.Verdict == audit.Inactive) {
						t.Errorf("the rule of %s is %q", l.Verdict, l.Rule)
					}
				}
				checkList(t, "audited", got, tt.want...)
			})
		})
	}
}

// callEcho makes a call of ns_echo with the id 1, and returns the id of what the client is
// asked.
func callEcho(g *cautious) (ask string) {
	g.t.Helper()
	g.client.says(callFrame("1", "ns_echo", "{}"))
	return g.asked(withNothing)
}

func TestConsentOfAModernClientIsAudited(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(d *dialog, state string)
		want []string
	}{
		"given":       {func(d *dialog, state string) { d.retry("2", state, agree); d.g.answerAll() }, []string{"asked input_required", "confirmed ok"}},
		"declined":    {func(d *dialog, state string) { d.retry("2", state, `{"confirm":{"action":"decline"}}`) }, []string{"asked input_required", "declined refused"}},
		"asked again": {func(d *dialog, state string) { d.retry("2", state, `{}`) }, []string{"asked input_required", "asked input_required"}},
		"made up":     {func(d *dialog, _ string) { d.retry("2", `"made up"`, agree) }, []string{"asked input_required", "invalid refused"}},
		"given twice": {func(d *dialog, state string) { d.retry("2", state, agree); d.g.answerAll(); d.retry("3", state, agree) },
			[]string{"asked input_required", "confirmed ok", "invalid refused"}},
		"of a client that cannot ask": {func(d *dialog, _ string) { d.client.says(capableCall("2", "tools/call", echoParams, `{}`, "")) },
			[]string{"asked input_required", "unconfirmed refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			bothEras(t, func(t *testing.T, modern bool) {
				w, lines := auditTo(t)
				d := newCautiousDialog(t, modern)
				d.g.s.Audit = w
				d.g.r.clock.EnableTiming()
				tt.play(d, d.demanded("1"))
				checkEnds(t, lines(), tt.want...)
			})
		})
	}
}

// A modern server that asks during a call to which a person has agreed is asked again
// under the same consent.
func TestARetryUnderConsentIsConfirmed(t *testing.T) {
	w, lines := auditTo(t)
	d := newCautiousDialog(t, true)
	d.g.s.Audit = w
	d.g.r.clock.EnableTiming()
	d.retry("2", d.demanded("1"), agree)
	d.server.says(reply(d.ran(), `{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}},"requestState":"s"}`))
	d.client.hears()
	d.retry("3", `"s"`, `{"r":{"roots":[]}}`)
	d.server.says(reply(idOf(t, d.server.hearsOne()), `{"resultType":"complete"}`))
	checkEnds(t, lines(), "asked input_required", "confirmed input_required", "confirmed ok")
}

func TestDangerWithoutConsentIsAudited(t *testing.T) {
	for confirm, want := range map[policy.Confirm]string{
		policy.Deny:  "tools/call ns tool ns_echo: denied (dangerous: refused (tools.toml:12)), refused",
		policy.Allow: "tools/call ns tool ns_echo: allowed (no policy is given: everything is allowed; dangerous: runs without asking (tools.toml:12)), ok",
	} {
		w, lines := auditTo(t)
		o := dangerous(t, confirm, "ns_echo")
		o.Audit = w
		g := newRig(t, setup{active: []string{"*"}, Options: o}, various())
		g.client.says(callFrame("1", "ns_echo", "{}"))
		g.answerAll()
		checkList(t, string(confirm), shortly(lines()), want)
	}
	w, lines := auditTo(t)
	g := newCautious(t, setup{capabilities: `{"roots":{}}`}, false)
	g.s.Audit = w
	g.r.clock.EnableTiming()
	g.client.says(callFrame("1", "ns_echo", "{}"))
	checkEnds(t, lines(), "unconfirmed refused")
}
