package router

import (
	"testing"

	"toolman/router/dial"
)

func TestStatusCountsConnectionsOfAllSessions(t *testing.T) {
	h := newHall(t, dial.ShareNever, asking())
	a, b := h.initialized(`{}`), h.initialized(`{}`)
	for _, v := range []*visitor{a, b} {
		v.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		v.hears(`"id":1`)
	}
	if all := h.r.Upstreams(); len(all) != 1 || all[0].Starts != 3 {
		t.Errorf("got %+v, want one server with three connections", all)
	}
	if n := h.r.Sessions(); n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
	a.s.End()
	if n := h.r.Sessions(); n != 1 {
		t.Errorf("%d sessions after one has ended, want 1", n)
	}
}
