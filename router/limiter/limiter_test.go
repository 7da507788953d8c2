package limiter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"toolman/router/budget"
)

func client(name string) budget.Principal { return budget.Principal{Subject: name} }

// A user does with a limiter what a server's calls do.
type user struct {
	*Limiter[string]
	active map[string]budget.Principal
}

func newUser(most int) *user {
	return &user{New[string](most), map[string]budget.Principal{}}
}

func (u *user) call(c budget.Principal, name string) Admission {
	place, how := u.Admit(c, len(name), func() string { return name })
	if place == Active {
		u.active[name] = c
	}
	return how
}

func TestPlacesGoToTheClientWithTheFewest(t *testing.T) {
	u := newUser(8)
	for i := range 20 {
		u.call(client("greedy"), fmt.Sprintf("g%d", i))
	}
	if n := u.Counts().Active; n != 6 {
		t.Errorf("one client has %d of 8 places, want three quarters", n)
	}
	for i := range 2 {
		if how := u.call(client(fmt.Sprint("other", i)), fmt.Sprint("o", i)); how != Admitted {
			t.Errorf("client %d is %v", i, how)
		}
	}
	u.call(client("last"), "l0")
	u.Leave(client("greedy"), Active)
	if next, ok := u.Next(); !ok || next != "l0" {
		t.Errorf("the next place goes to %q, %v", next, ok)
	}
}

func TestAnonymousClientsCanHaveAllPlaces(t *testing.T) {
	u := newUser(4)
	for i := range 5 {
		if how, want := u.call(budget.Principal{}, fmt.Sprint(i)), [...]Admission{4: Queued}[i]; how != want {
			t.Errorf("call %d is %v, want %v", i, how, want)
		}
	}
}

func TestQueuesAreBounded(t *testing.T) {
	u := newUser(1)
	u.call(client("a"), "first")
	for i := range MaxQueued {
		if how := u.call(client("a"), fmt.Sprint(i)); how != Queued {
			t.Fatalf("call %d is %v", i, how)
		}
	}
	if how := u.call(client("a"), "more"); how != Rejected {
		t.Errorf("one more call is %v", how)
	}
	if how := u.call(client("b"), "b"); how != Queued {
		t.Errorf("another client's call is %v", how)
	}
	u = newUser(1)
	u.call(client("a"), "first")
	for i, want := range []Admission{Queued, Rejected} {
		if _, how := u.Admit(client("a"), maxBytes+1, func() string { return "long" }); how != want {
			t.Errorf("long call %d is %v, want %v", i, how, want)
		}
	}
}

func TestACancelledCallCountsForItsClientOnly(t *testing.T) {
	u := newUser(2)
	u.call(client("a"), "1")
	u.Linger(client("a"))
	if how := u.call(client("a"), "2"); how != Queued {
		t.Errorf("the client's next call is %v", how)
	}
	if how := u.call(client("b"), "3"); how != Admitted {
		t.Errorf("another client's call is %v", how)
	}
	u.Leave(client("a"), Lingering)
	u.Leave(client("b"), Active)
	if next, ok := u.Next(); !ok || next != "2" {
		t.Errorf("next is %q, %v", next, ok)
	}
}

func TestAClosedLimiterAdmitsEveryCall(t *testing.T) {
	u := newUser(1)
	u.call(client("a"), "1")
	u.call(client("b"), "2")
	u.call(client("a"), "3")
	if got := u.Close(); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("waiting were %q", got)
	}
	if how := u.call(client("a"), "4"); how != Admitted || u.Load() != 1 {
		t.Errorf("a call is %v, and %d have places", how, u.Load())
	}
}

// No order of events has more calls active than there are places, nor a call wait that could be
// active.
func TestHistories(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		most := 1 + r.IntN(5)
		u := newUser(most)
		for i := range 200 {
			switch c := fmt.Sprint(r.IntN(3)); r.IntN(4) { // a call's name begins with its client's
			case 0, 1:
				u.call(client(c), fmt.Sprint(c, i))
			case 2:
				for name, c := range u.active {
					delete(u.active, name)
					u.Leave(c, Active)
					break
				}
			case 3:
				u.Remove(func(string) bool { return r.IntN(2) == 0 })
			}
			for name, ok := u.Next(); ok; name, ok = u.Next() {
				u.active[name] = client(name[:1])
			}
			if has := u.Counts(); has.Active != len(u.active) || has.Active > most || has.Queued > 0 && has.Active == 0 {
				t.Fatalf("seed %d: %+v with %d places, and %d calls are active", seed, has, most, len(u.active))
			}
		}
	}
}
