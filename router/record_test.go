package router

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"toolman/router/client"
	"toolman/router/session"
	"toolman/router/subscribe"
)

// What a test reads of a record, and writes to it.
type recorded struct {
	Version       int             `json:"v"`
	Initialize    json.RawMessage `json:"initialize"`
	Ready         bool            `json:"ready"`
	Activations   json.RawMessage `json:"activations"`
	Subscriptions []string        `json:"subscriptions"`
}

func TestARecordOutlivesTheStartOfServers(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}, silent: true, who: client.Info{Recorded: true}},
		offer{namespace: "ns", tools: []string{"a"}, templates: []string{"t://{x}"}, starting: true})
	before := recorded{Version: 1, Initialize: json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`),
		Ready: true, Activations: json.RawMessage(`{"tools":{"ns_a":false}}`)}
	for i := range subscribe.MaxSubscriptions {
		before.Subscriptions = append(before.Subscriptions, fmt.Sprintf("t://%06d", i))
	}
	text, _ := json.Marshal(before)
	g.s.Restore(text)
	g.client.hears() // of the restored requests; fronts drop that
	g.client.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, when := range []string{"while servers start", "later"} {
		var after recorded
		if err := json.Unmarshal(g.s.Record(), &after); err != nil {
			t.Fatal(err)
		}
		slices.Sort(after.Subscriptions)
		if !reflect.DeepEqual(after, before) {
			t.Errorf("%s there are %d subscriptions, ready %t, activations %s", when, len(after.Subscriptions), after.Ready, after.Activations)
		}
		if when != "later" {
			g.servers[0].ready()
		}
	}
	if n := session.Simulate(g.s).Held().Subscriptions; n != len(before.Subscriptions) {
		t.Errorf("there are %d subscriptions", n)
	}
}
