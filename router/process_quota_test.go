package router

import (
	"strings"
	"testing"

	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/dial"
)

// fewProcesses are budgets where one client can have 5 processes of its own.
func fewProcesses() *budget.Budgets {
	return budget.New(budget.Limits{budget.Processes: 5}, budget.Limits{})
}

// At its limit a client shares a process, but for a server that nobody shares. Others are not
// concerned.
func TestWhoHasTooManyProcessesOfItsOwn(t *testing.T) {
	for share, want := range map[dial.Share]string{dial.ShareAuto: `"id":1,"result"`, dial.ShareNever: "server a is not available in this session: it has a process for each session"} {
		h := newHall(t, share, asking())
		budgets := fewProcesses()
		greedy := budget.Principal{Issuer: "greedy"}
		for range 5 {
			h.r.pool.Quota.Take(budgets.Open(greedy))
		}
		v := h.initializedAs(client.Info{Principal: greedy, Account: budgets.Open(greedy), Many: true}, everything)
		v.says(callFrame("1", "a_plain", "{}"))
		if got := v.hears(`"id":1`); !strings.Contains(got, want) {
			t.Errorf("share %d: got %s, want %s", share, got, want)
		}
		if n := h.started.Load(); n != 1 {
			t.Errorf("share %d: there are %d processes, want the shared one", share, n)
		}
		v.s.End()
		other := budget.Principal{Issuer: "other"}
		v = h.initializedAs(client.Info{Principal: other, Account: budgets.Open(other), Many: true}, everything)
		v.says(callFrame("1", "a_plain", "{}"))
		if got := v.hears(`"id":1`); !strings.Contains(got, `"result":{"content"`) || h.started.Load() != 2 {
			t.Errorf("share %d: another client got %s, with %d processes", share, got, h.started.Load())
		}
		v.s.End()
		eventually(t, "the process of the session that has ended is not counted", func() bool { return h.r.pool.Quota.Count() == 5 })
	}
}
