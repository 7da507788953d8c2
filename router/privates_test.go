package router

import (
	"testing"

	"toolman/router/principal"
)

func TestOneCredentialLeavesProcessesToTheOthers(t *testing.T) {
	var x privates
	taken := func(who string) (n int) {
		for x.take(principal.Principal{Issuer: who}) {
			n++
		}
		return n
	}
	if n := taken("a"); n != maxPrivateOf {
		t.Errorf("one credential got %d", n)
	}
	x.take(principal.Principal{Issuer: "b"})
	x.back(principal.Principal{Issuer: "a"})
	if n := taken("a"); n != 1 {
		t.Errorf("it got %d again where it gave one back", n)
	}
	if n := taken(""); n != maxPrivate-maxPrivateOf-1 {
		t.Errorf("those without a credential got %d more", n)
	}
	if x.take(principal.Principal{Issuer: "b"}) || x.count() != maxPrivate {
		t.Errorf("there are %d in all", x.count())
	}
}

func TestWhoHasTooManyProcessesOfItsOwnSharesAndOthersDoNot(t *testing.T) {
	h := newHall(t, ShareNever, asking())
	for range maxPrivateOf {
		h.r.privates.take(principal.Principal{Issuer: "greedy"})
	}
	started := int32(1)
	for _, who := range []string{"greedy", "other"} {
		v := h.enter(Client{Principal: principal.Principal{Issuer: who}, Many: true})
		v.says(modern("1", "tools/call", `"name":"a_plain"`, `{}`))
		v.hears(`"id":1`)
		if who != "greedy" {
			started++
		}
		if n := h.started.Load(); n != started {
			t.Errorf("with %s there were %d processes, want %d", who, n, started)
		}
		v.s.End()
	}
	eventually(t, "the process of the session that has ended is not counted", func() bool { return h.r.privates.count() == maxPrivateOf })
}
