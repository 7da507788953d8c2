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
	"toolman/router/session"
)

// settling is a rig whose activations wait for the client to list again.
func settling(t testing.TB, offers ...offer) *rig {
	return newRig(t, setup{active: []string{"ns_on*"}, Options: Options{Settle: time.Second}}, append(offers, offer{
		namespace: "ns", tools: []string{"on", "off1", "off2"}, resources: []string{"off://r"},
	})...)
}

// after lets time pass and returns what the client was sent meanwhile, as methods
// and, of answers, ids.
func (g *rig) after(d time.Duration) []string {
	g.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	var got []string
	for _, frame := range g.client.hears() {
		m := scanned(g.t, frame)
		if m.Kind == jsonrpc.Response {
			got = append(got, idOf(g.t, frame))
		} else {
			got = append(got, string(m.Text(m.Method)))
		}
	}
	return got
}

const listTools = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`

func on(tools ...string) activation { return activation{toolsOn: tools} }

func TestAnActivationWaitsForTheListAndAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := settling(t)
		g.client.says(on("ns_off1").frame("1"))
		checkList(t, "at once", g.after(0), toolsChanged)
		checkList(t, "before the list", g.after(900*time.Millisecond))
		g.client.says(listTools)
		checkList(t, "the list", g.after(0), `"list"`)
		checkList(t, "just before the moment is over", g.after(replyPause-1))
		checkList(t, "when it is", g.after(1), "1")
		checkList(t, "and then nothing", g.after(time.Hour))
		if g.s.Peer.ListsOnce {
			t.Error("the client is taken for one that does not list again")
		}
	})
}

func TestAnActivationIsDoneBeforeItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := settling(t)
		g.client.says(on("ns_off1").frame("1"), callFrame("2", "ns_off1", "{}"), listTools)
		if len(g.servers[0].hears()) != 1 {
			t.Error("the call was not passed on")
		}
		heard := g.client.hears()
		if len(heard) != 2 || !strings.Contains(heard[1], `"ns_off1"`) {
			t.Errorf("heard %q", heard)
		}
		checkList(t, "later", g.after(replyPause), "1")
	})
}

func TestAClientThatDoesNotListAgainIsNotWaitedForTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := settling(t)
		g.client.says(on("ns_off1").frame("1"))
		checkList(t, "for as long as may be", g.after(time.Second-1), toolsChanged)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		const advice = ". This client has not listed its tools again: call by its name what is missing there; the definitions are in this result"
		if o := reportOf(t, g.client.hearsOne()); o.text() != "switched on ns_off1; adds about 4 tokens"+advice || len(o.Tools) != 1 {
			t.Errorf("says %q, with %d definitions", o.text(), len(o.Tools))
		}
		g.client.says(on("ns_off2").frame("2"))
		heard := g.client.hears()
		if len(heard) != 2 || reportOf(t, heard[1]).text() != "switched on ns_off2; adds about 4 tokens"+advice {
			t.Errorf("the next time: %q", heard)
		}
		g.client.says(activation{toolsOff: []string{"ns_off2"}}.frame("3"))
		heard = g.client.hears()
		if len(heard) != 2 || reportOf(t, heard[1]).text() != "switched off ns_off2; saves about 4 tokens" {
			t.Errorf("with nothing switched on: %q", heard)
		}
		checkList(t, "and then nothing", g.after(time.Hour))
	})
}

func TestActivationsThatNeedNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := settling(t)
		g.client.says(on("ns_on").frame("1"), on("ns_nothing").frame("2"), activation{}.frame("3"))
		checkList(t, "answered at once", g.after(0), "1", "2", "3")
		g.r.sessionEnv.Builtin.Settle = 0
		g.client.says(on("ns_off1").frame("4"))
		checkList(t, "without a bound", g.after(0), toolsChanged, "4")
		checkList(t, "and then nothing", g.after(time.Hour))
	})
}

// Only the whole list of tools says that the client has seen the change.
func TestOtherListsDoNotEndTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := func(name string) string {
			return `{"name":"` + name + `","description":"` + strings.Repeat("x", 5<<20) + `"}`
		}
		g := settling(t, offer{namespace: "ns", tools: []string{big("on1"), big("on2")}})
		g.client.says(activation{resourcesOn: []string{"ns_off://r"}}.frame("1"))
		checkList(t, "told", g.after(0), toolsChanged, resourcesChanged)
		for _, k := range []mcpwire.Kind{mcpwire.Resource, mcpwire.Template, mcpwire.Prompt} {
			g.listPage(k, `{}`)
		}
		_, next, _ := g.listPage(mcpwire.Tool, `{}`)
		checkList(t, "after the first page", g.after(500*time.Millisecond))
		if _, next, _ = g.listPage(mcpwire.Tool, `{"cursor":"`+next+`"}`); next != "" {
			t.Fatal("there is another page")
		}
		checkList(t, "after the last page", g.after(replyPause), "1")
	})
}

func TestOneListEndsTheWaitOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := settling(t)
		g.client.says(on("ns_off1").frame("1"), on("ns_off2").frame("1"))
		checkList(t, "told", g.after(100*time.Millisecond), toolsChanged, toolsChanged)
		g.client.says(listTools)
		g.after(replyPause / 2)
		g.client.says(listTools) // does not make it longer
		g.after(replyPause/2 - 1)
		checkList(t, "both", g.after(1), "1", "1")
		checkList(t, "and then nothing", g.after(time.Hour))
	})
}

func TestACancelledActivationIsNotAnsweredButStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := settling(t)
		g.client.says(on("ns_off1").frame("1"), on("ns_off2").frame("2"), fmt.Sprintf(cancelFrame, "1"))
		g.after(0)
		g.client.says(listTools, fmt.Sprintf(cancelFrame, "1"))
		checkList(t, "the other is answered", g.after(time.Hour), `"list"`, "2")
		checkList(t, "active", activeNames(g.view()), "tool ns_on", "tool ns_off1", "tool ns_off2")
		if g.s.Peer.ListsOnce || g.s.Pending() > 0 {
			t.Errorf("static %v, %d pending", g.s.Peer.ListsOnce, g.s.Pending())
		}
	})
}

// A timer may fire while what it is for happens otherwise.
func TestAnExpiryThatComesTooLateDoesNothing(t *testing.T) {
	for name, before := range map[string]func(g *rig){
		"answered":  func(g *rig) { session.Simulate(g.s).Expiry()(); g.client.hearsOne() },
		"cancelled": func(g *rig) { g.client.says(fmt.Sprintf(cancelFrame, "1")) },
		"closed":    func(g *rig) { g.s.Closed(io.EOF); g.client.hearsOne() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := settling(t)
				g.client.says(on("ns_off1").frame("1"))
				g.client.hears()
				expire := session.Simulate(g.s).Expiry()
				before(g)
				expire()
				g.quiet()
			})
		})
	}
}

func TestWhatIsHeldIsPendingAndReleasedWhenTheClientCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := settling(t)
		g.client.says(on("ns_off1").frame("1"), on("ns_off2").frame("2"))
		g.after(0)
		if n := g.s.Pending(); n != 2 {
			t.Errorf("%d pending, want 2", n)
		}
		g.s.Closed(io.EOF)
		checkList(t, "answered", g.after(0), "1", "2")
		if n := g.s.Pending(); n != 0 {
			t.Errorf("%d pending, want none", n)
		}
		checkList(t, "and then nothing", g.after(time.Hour))
	})
}

// A client that has said everything at once and closed its side lists no more.
func TestWhatWaitedForTheServersDoesNotWaitForAClientThatHasClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{Options: Options{Settle: time.Second}}, offer{namespace: "ns", tools: []string{"off1"}, starting: true})
		g.client.says(on("ns_off1").frame("1"))
		g.s.Closed(io.EOF)
		g.servers[0].ready()
		checkList(t, "answered at once", g.after(0), toolsChanged, "1")
	})
}

func TestTheCatalogMayChangeDuringTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := settling(t, offer{namespace: "other", prompts: []string{"p"}})
		g.client.says(on("ns_off1").frame("1"))
		g.after(0)
		g.servers[1].dies()
		checkList(t, "told", g.after(0), toolsChanged) // no resource was active
		g.client.says(listTools)
		g.after(0)
		time.Sleep(replyPause)
		synctest.Wait()
		if o := reportOf(t, g.client.hearsOne()); o.text() != "switched on ns_off1; adds about 4 tokens" || len(o.Tools) != 1 {
			t.Errorf("says %q", o.text())
		}
	})
}
