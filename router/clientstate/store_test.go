package clientstate

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/view"
)

func key(id string) Key { return Key{Principal: budget.Principal{ClientID: id}} }

func on(names ...string) view.Activations {
	a := view.Activations{Tools: map[string]bool{}}
	for _, name := range names {
		a.Tools[name] = true
	}
	return a
}

func ignore() {}

// leaves adds a client with activations and removes its session.
func (s *Store) leaves(k Key, a view.Activations) {
	m, _ := s.Join(k, ignore)
	m.Replace(a)
	m.Leave()
}

// has returns the tools that a new session of a client begins with.
func (s *Store) has(k Key) int {
	m, a := s.Join(k, ignore)
	m.Leave()
	return len(a.Tools)
}

func TestKeys(t *testing.T) {
	who := budget.Principal{Issuer: budget.Tokens, Subject: "s", Agent: "a", ClientID: "c", Path: "p"}
	k, ok := KeyOf(&client.Info{Principal: who, Agent: "b"})
	if want := (Key{budget.Principal{Issuer: budget.Tokens, Subject: "s", Agent: "a", ClientID: "c"}, "b"}); !ok || k != want {
		t.Errorf("got %+v, %t", k, ok)
	}
	if _, ok := KeyOf(&client.Info{Principal: who, Static: "x"}); ok {
		t.Error("a client that cannot activate anything shares")
	}
	who.ClientID = ""
	if _, ok := KeyOf(&client.Info{Principal: who}); ok {
		t.Error("a client that no proxy has named shares")
	}
}

func TestSessionsOfAClientShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Store
		told := ""
		join := func(name, id string) (*Member, view.Activations) {
			return s.Join(key(id), func() { told += name })
		}
		a, _ := join("a", "1")
		b, _ := join("b", "1")
		other, _ := join("other", "2")
		if !a.Replace(on("x")) {
			t.Fatal("a cannot change anything")
		}
		synctest.Wait()
		if told != "ab" && told != "ba" {
			t.Errorf("told %q", told)
		}
		if b.Replace(on("y")) {
			t.Error("b replaces what it has not seen")
		}
		if got, changed := b.Latest(); !changed || !got.Tools["x"] {
			t.Errorf("b sees %v, %t", got, changed)
		}
		if _, changed := a.Latest(); changed {
			t.Error("a's own change is new to it")
		}
		if _, changed := other.Latest(); changed {
			t.Error("another client sees it")
		}
		if !b.Replace(on("x", "y")) {
			t.Error("b cannot change what it has seen")
		}
		if c, got := join("c", "1"); len(got.Tools) != 2 {
			t.Errorf("a later session begins with %v", got)
		} else if _, changed := c.Latest(); changed {
			t.Error("what a session begins with is new to it")
		}
		a.Leave()
		a.Leave()
		if _, changed := b.Latest(); changed || s.idle != nil {
			t.Error("a session that leaves changes something")
		}
		var none *Member
		if _, changed := none.Latest(); changed || !none.Replace(on("x")) {
			t.Error("without a store there is something to follow")
		}
		none.Leave()
	})
}

func TestAStateStaysForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Store{Idle: time.Minute}
		s.leaves(key("1"), on("x"))
		for range 3 { // each time it is used
			time.Sleep(59 * time.Second)
			if n := s.has(key("1")); n != 1 {
				t.Fatalf("after less than its time it has %d", n)
			}
		}
		m, _ := s.Join(key("1"), ignore)
		time.Sleep(time.Hour)
		if n := s.has(key("1")); n != 1 {
			t.Fatalf("while there is a session it has %d", n)
		}
		m.Leave()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(s.clients) != 0 || len(s.idle) != 0 || s.idleBytes != 0 {
			t.Errorf("there are %d clients, %d idle, %d bytes", len(s.clients), len(s.idle), s.idleBytes)
		}
		if s.has(key("1")); len(s.clients) != 0 {
			t.Error("a client that has activated nothing is kept")
		}
	})
}

func TestIdleStatesAreBounded(t *testing.T) {
	var s Store
	defer s.Close()
	for i := range maxIdle + 10 {
		s.leaves(key(fmt.Sprint(i)), on("x"))
	}
	if len(s.idle) != maxIdle || len(s.clients) != maxIdle {
		t.Errorf("%d are kept", len(s.idle))
	}
	if s.has(key("9")) != 0 || s.has(key("10")) != 1 {
		t.Error("it is not the oldest that are forgotten")
	}
	var big []string
	for i := range 20 {
		big = append(big, fmt.Sprint(i)+strings.Repeat("x", maxIdleBytes/50))
	}
	for i := range 3 {
		s.leaves(key(fmt.Sprint("big", i)), on(big...))
	}
	if s.idleBytes > maxIdleBytes || s.has(key("big2")) != 20 || s.has(key("big0")) != 0 {
		t.Errorf("%d bytes are kept", s.idleBytes)
	}
	s.Close()
	if s.leaves(key("late"), on("x")); len(s.clients) != 0 || s.idleBytes != 0 {
		t.Errorf("after the end %d clients are kept, with %d bytes", len(s.clients), s.idleBytes)
	}
}

// Many sessions change what they have seen, as often as it takes. No change is lost.
func TestNoChangeIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Store
		for i := range 20 {
			go func() {
				m, a := s.Join(key("1"), ignore)
				for {
					if next, changed := m.Latest(); changed {
						a = next
					}
					names := []string{fmt.Sprint(i)}
					for name := range a.Tools {
						names = append(names, name)
					}
					if m.Replace(on(names...)) {
						return
					}
				}
			}()
		}
		synctest.Wait()
		if n := s.has(key("1")); n != 20 {
			t.Errorf("%d changes are left of 20", n)
		}
	})
}
