package router

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/router/session"
)

// TestConcurrentRounds has the client, a modern server and whatever ends it on
// goroutines of their own. What is not cancelled is answered once, and a call that was
// made again is not made a third time.
func TestConcurrentRounds(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			const calls = 40
			g := newRoundRig(t, asksAll)
			var all sync.WaitGroup
			done := make(chan struct{})
			all.Go(func() { g.serveRounds(rand.New(rand.NewPCG(seed, 1)), done) })
			if seed%2 == 0 {
				all.Go(func() {
					time.Sleep(time.Duration(seed) * 20 * time.Millisecond)
					g.server.dies()
				})
			}
			heard, cancelled := g.chat(rand.New(rand.NewPCG(seed, 2)), calls)
			close(done)
			all.Wait()
			answers := map[string]int{}
			for _, frame := range heard {
				if m := scanned(t, frame); m.Kind == jsonrpc.Response {
					answers[string(m.Bytes(m.ID))]++
				}
			}
			for n := range calls {
				id := fmt.Sprint(n)
				if count := answers[id]; count > 1 || count == 0 && !cancelled[n] {
					t.Errorf("seed %d: %s is answered %d times, cancelled: %v", seed, id, count, cancelled[n])
				}
			}
			if n := g.server.u.Calls.Len() + session.Simulate(g.s).Held().ServerRequests + g.s.Pending(); n != 0 {
				t.Errorf("seed %d: %d are left", seed, n)
			}
		})
	}
}

// chat has the client call, answer what it is asked, and cancel.
func (g *roundRig) chat(rng *rand.Rand, calls int) (heard []string, cancelled map[int]bool) {
	cancelled = map[int]bool{}
	listen := func() {
		for _, frame := range g.client.hears() {
			heard = append(heard, frame)
			if m := scanned(g.t, frame); m.Kind == jsonrpc.Request {
				g.client.says(reply(string(m.Bytes(m.ID)), `{"roots":[]}`))
			}
		}
	}
	for n := range calls {
		g.client.says(callFrame(fmt.Sprint(n), "ns_echo", fmt.Sprintf(`{"n":%d}`, n)))
		if rng.IntN(4) == 0 {
			victim := rng.IntN(n + 1)
			cancelled[victim] = true
			g.client.says(fmt.Sprintf(cancelFrame, fmt.Sprint(victim)))
		}
		if rng.IntN(3) == 0 {
			time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		}
		listen()
	}
	for range 200 {
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		listen()
	}
	return heard, cancelled
}

// serveRounds has the server need input for about half of the calls, once each.
func (g *roundRig) serveRounds(rng *rand.Rand, done chan struct{}) {
	again := map[string]int{}
	for {
		for _, frame := range g.server.hears() {
			m := scanned(g.t, frame)
			if m.Kind != jsonrpc.Request {
				continue
			}
			id := string(m.Bytes(m.ID))
			args, _ := m.Param("arguments")
			retry := strings.Contains(frame, `"requestState":"s"`)
			if again[string(m.Bytes(args))]++; again[string(m.Bytes(args))] > 2 || retry != (again[string(m.Bytes(args))] == 2) {
				g.t.Errorf("called again: %s", frame)
			}
			switch {
			case retry || rng.IntN(2) == 0:
				g.server.says(reply(id, `{"resultType":"complete"}`))
			case rng.IntN(4) == 0:
				g.requires(id, `"requestState":"s"`)
			default:
				g.requires(id, `"inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}},"requestState":"s"`)
			}
		}
		select {
		case <-done:
			return
		case <-time.After(time.Duration(rng.IntN(3000)) * time.Microsecond):
		}
	}
}
