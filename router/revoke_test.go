package router

import (
	"fmt"
	"strings"
	"testing"

	"toolman/router/client"
	"toolman/router/upstream"
)

// A reload that narrows a policy ends what is under way with what is denied now, in both eras, and
// nothing else.
func TestReloadEndsWhatIsDenied(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"*"}}, offer{namespace: "ns", tools: []string{"x", "y"}, resources: []string{"n://a", "n://b"}, most: 2})
	server := g.servers[0]
	server.subscribable()
	upstream.Simulate(server.u).Share()
	modern, legacy := g.client, g.another(client.Info{})
	g.listenFor(`"a"`, `{"resourceSubscriptions":["ns_n://a"]}`)
	g.listenFor(`"ab"`, `{"resourceSubscriptions":["ns_n://a","ns_n://b"]}`)
	legacy.says(fmt.Sprintf(subscribeFrame, "ns_n://a"), fmt.Sprintf(subscribeFrame, "ns_n://b"))
	legacy.hears()
	server.hears()
	legacy.says(callFrame("10", "ns_x", "{}"), callFrame("11", "ns_y", "{}"), callFrame("12", "ns_x", "{}")) // the last waits for its turn
	modern.says(modernCall("13", "resources/read", `"uri":"ns_n://a"`, ""))
	calls := server.hears()
	if len(calls) != 2 {
		t.Fatalf("the server has heard %q", calls)
	}

	o := g.r.Options
	o.Policy = exposing(t, map[string][]string{"ns": {"y", "n://b"}})
	g.r.Reload(o)
	answers := func(l *link) (all string) {
		for _, frame := range l.hears() {
			if strings.Contains(frame, `"id"`) {
				all += frame + "\n"
			}
		}
		return all
	}
	got := answers(legacy)
	for _, id := range []string{"10", "12"} {
		if !strings.Contains(got, `"id":`+id+`,`) {
			t.Errorf("the call %s of what is denied now is not answered: %s", id, got)
		}
	}
	if strings.Count(got, `"isError":true`) != 2 || !strings.Contains(got, "denied by policy") || strings.Contains(got, `"id":11`) {
		t.Errorf("the legacy client hears %s", got)
	}
	if got := answers(modern); !strings.Contains(got, `"id":"a","result"`) || !strings.Contains(got, `"id":13,`) || strings.Contains(got, `"id":"ab"`) {
		t.Errorf("the modern client hears %s", got)
	}
	told := strings.Join(server.hears(), "\n")
	if strings.Count(told, "notifications/cancelled") != 1 || strings.Count(told, `"resources/unsubscribe","params":{"uri":"n://a"}`) != 1 || strings.Contains(told, `"n://b"`) {
		t.Errorf("the server hears %s", told)
	}

	server.says(fmt.Sprintf(updatedFrame, "n://a"))
	legacy.wants()
	modern.wants()
	server.says(fmt.Sprintf(updatedFrame, "n://b"))
	legacy.wants(fmt.Sprintf(updatedFrame, "ns_n://b"))
	if heard := modern.hearsOne(); !strings.Contains(heard, onSub(`"ab"`)) {
		t.Errorf("the modern client hears %s", heard)
	}
	server.says(`{"jsonrpc":"2.0","id":` + idOf(t, calls[1]) + `,"result":{"content":[]}}`)
	legacy.wants(`{"jsonrpc":"2.0","id":11,"result":{"content":[]}}`)

	// What is denied no more is not subscribed to any more either: the client has to ask for it.
	g.r.Reload(g.r.Options)
	legacy.hears()
	modern.hears()
	server.says(fmt.Sprintf(updatedFrame, "n://a"))
	legacy.wants()
	modern.wants()
}
