package names

import (
	"strings"
	"testing"

	"toolman/router/httpd/presence"
)

func caller(subject string) *presence.Caller {
	who := &presence.Caller{}
	who.Client.Principal.Subject = subject
	return who
}

func TestOnlyTheClusterMakesIDs(t *testing.T) {
	k, other := New([32]byte{1}), New([32]byte{2})
	id := k.NewID("replicaa", caller("a"))
	if at, ok := New([32]byte{1}).Birthplace(id, caller("a")); at != "replicaa" || !ok {
		t.Errorf("%s began at %q, %t", id, at, ok)
	}
	if _, ok := k.Birthplace(id, caller("b")); ok {
		t.Error("another caller has the ID")
	}
	if _, ok := other.Birthplace(id, caller("a")); ok {
		t.Error("another cluster has the ID")
	}
	for _, forged := range []string{"", id + "x", strings.Replace(id, "replicaa", "replicab", 1), id[:len(id)-11] + "AAAAAAAAAAA", "x" + id[1:]} {
		if _, ok := k.Birthplace(forged, caller("a")); ok && forged != id {
			t.Errorf("%q is accepted", forged)
		}
	}
}

func TestUnits(t *testing.T) {
	k := New([32]byte{1})
	a, set, client, agent := caller("a"), caller("a"), caller("a"), caller("a")
	set.Client.Config = map[string]string{"KEY": "value"}
	client.Client.Principal.ClientID, agent.Client.Principal.ClientID, agent.Client.Agent = "id", "id", "agent"
	seen := map[string]bool{}
	for _, who := range []*presence.Caller{a, set, client, agent, caller("b")} {
		seen[k.UnitOf("", who)] = true
	}
	if len(seen) != 5 {
		t.Errorf("five callers have %d units", len(seen))
	}
	if k.UnitOf("session", a) != "session" || k.UnitOf("session", client) != k.UnitOf("", client) {
		t.Error("a session has a unit of its own, unless its client has an ID")
	}
}
