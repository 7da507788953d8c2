package router

import (
	"strings"
	"testing"

	"toolman/router/budget"
)

// fewProcesses are budgets where one client can have 5 processes of its own.
func fewProcesses() *budget.Budgets {
	return budget.New(budget.Limits{budget.Processes: 5}, budget.Limits{})
}

func TestOneClientLeavesProcessesToTheOthers(t *testing.T) {
	budgets := fewProcesses()
	a, b := budgets.Open(budget.Principal{Issuer: "a"}), budgets.Open(budget.Principal{Issuer: "b"})
	var x processQuota
	taken := func(of *budget.Account) (n int, err error) {
		for err == nil {
			if err = x.take(of); err == nil {
				n++
			}
		}
		return n, err
	}
	if n, err := taken(a); n != 5 || !strings.Contains(err.Error(), "processes in [http.limits]") {
		t.Errorf("one client got %d, then: %v", n, err)
	}
	if err := x.take(b); err != nil {
		t.Errorf("the other one: %v", err)
	}
	x.back(a)
	if n, _ := taken(a); n != 1 {
		t.Errorf("it got %d again where it gave one back", n)
	}
	if n, err := taken(nil); n != maxPrivate-6 || err != errProcesses {
		t.Errorf("one without limits got %d more, then: %v", n, err)
	}
	if err := x.take(b); err != errProcesses || x.count() != maxPrivate {
		t.Errorf("there are %d in all, then: %v", x.count(), err)
	}
}

// At its limit a client shares a process, but for a server that nobody shares. Others are not concerned.
func TestWhoHasTooManyProcessesOfItsOwn(t *testing.T) {
	for share, want := range map[Share]string{ShareAuto: `"id":1,"result"`, ShareNever: "server a is not available in this session: it has a process for each session"} {
		h := newHall(t, share, asking())
		budgets := fewProcesses()
		greedy := budget.Principal{Issuer: "greedy"}
		for range 5 {
			h.r.quota.take(budgets.Open(greedy))
		}
		v := h.initializedAs(Client{Principal: greedy, Account: budgets.Open(greedy), Many: true}, everything)
		v.says(callFrame("1", "a_plain", "{}"))
		if got := v.hears(`"id":1`); !strings.Contains(got, want) {
			t.Errorf("share %d: got %s, want %s", share, got, want)
		}
		if n := h.started.Load(); n != 1 {
			t.Errorf("share %d: there are %d processes, want the shared one", share, n)
		}
		v.s.End()
		other := budget.Principal{Issuer: "other"}
		v = h.initializedAs(Client{Principal: other, Account: budgets.Open(other), Many: true}, everything)
		v.says(callFrame("1", "a_plain", "{}"))
		if got := v.hears(`"id":1`); !strings.Contains(got, `"result":{"content"`) || h.started.Load() != 2 {
			t.Errorf("share %d: another client got %s, with %d processes", share, got, h.started.Load())
		}
		v.s.End()
		eventually(t, "the process of the session that has ended is not counted", func() bool { return h.r.quota.count() == 5 })
	}
}
