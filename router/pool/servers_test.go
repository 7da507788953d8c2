package pool

import (
	"strings"
	"testing"

	"toolman/router/budget"
)

func TestOneClientLeavesProcessesToTheOthers(t *testing.T) {
	budgets := budget.New(budget.Limits{budget.Processes: 5}, budget.Limits{})
	a, b := budgets.Open(budget.Principal{Issuer: "a"}), budgets.Open(budget.Principal{Issuer: "b"})
	var x Quota
	taken := func(of *budget.Account) (n int, err error) {
		for err == nil {
			if err = x.Take(of); err == nil {
				n++
			}
		}
		return n, err
	}
	if n, err := taken(a); n != 5 || !strings.Contains(err.Error(), "processes in [http.limits]") {
		t.Errorf("one client got %d, then: %v", n, err)
	}
	if err := x.Take(b); err != nil {
		t.Errorf("the other one: %v", err)
	}
	x.release(a)
	if n, _ := taken(a); n != 1 {
		t.Errorf("it got %d again where it gave one back", n)
	}
	if n, err := taken(nil); n != maxDedicated-6 || err != errProcesses {
		t.Errorf("one without limits got %d more, then: %v", n, err)
	}
	if err := x.Take(b); err != errProcesses || x.Count() != maxDedicated {
		t.Errorf("there are %d in all, then: %v", x.Count(), err)
	}
}
