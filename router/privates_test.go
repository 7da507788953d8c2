package router

import (
	"strings"
	"testing"

	"toolman/router/budget"
	"toolman/router/principal"
)

// fewProcesses are budgets where one client can have 5 processes of its own.
func fewProcesses() *budget.Budgets {
	return budget.New(budget.Limits{budget.Processes: 5}, budget.Limits{})
}

func TestOneClientLeavesProcessesToTheOthers(t *testing.T) {
	budgets := fewProcesses()
	a, b := budgets.Open(principal.Principal{Issuer: "a"}), budgets.Open(principal.Principal{Issuer: "b"})
	var x privates
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

func TestWhoHasTooManyProcessesOfItsOwnSharesAndOthersDoNot(t *testing.T) {
	h := newHall(t, ShareNever, asking())
	budgets := fewProcesses()
	greedy := principal.Principal{Issuer: "greedy"}
	for range 5 {
		h.r.privates.take(budgets.Open(greedy))
	}
	started := int32(1)
	for _, who := range []principal.Principal{greedy, {Issuer: "other"}} {
		v := h.enter(Client{Principal: who, Account: budgets.Open(who), Many: true})
		v.says(modern("1", "tools/call", `"name":"a_plain"`, `{}`))
		v.hears(`"id":1`)
		if who != greedy {
			started++
		}
		if n := h.started.Load(); n != started {
			t.Errorf("with %v there were %d processes, want %d", who, n, started)
		}
		v.s.End()
	}
	eventually(t, "the process of the session that has ended is not counted", func() bool { return h.r.privates.count() == 5 })
}
