package router

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/router/session"
)

// TestSuspensionsConcurrently has a modern client, legacy servers that ask, time-outs
// and a death on goroutines of their own. Every tool runs once, every request of the
// client and every question has one answer, and nothing is left.
func TestSuspensionsConcurrently(t *testing.T) {
	seeds := uint64(30)
	if raced {
		seeds = 10
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, setup{active: []string{"*"}, silent: true},
				offer{namespace: "a", tools: []string{"x"}, timeout: 30 * time.Millisecond},
				offer{namespace: "b", tools: []string{"x"}}, offer{namespace: "c", tools: []string{"x"}})
			var all sync.WaitGroup
			done := make(chan struct{})
			servers := make([]*asker, len(g.servers))
			for i, l := range g.servers {
				servers[i] = &asker{link: l, rng: rand.New(rand.NewPCG(seed, uint64(i))), runs: map[string]int{}, questions: map[string]int{}, takenBack: map[string]bool{}}
				all.Go(func() { servers[i].serve(done) })
			}
			all.Go(func() {
				time.Sleep(time.Duration(seed) * 3 * time.Millisecond)
				g.servers[1].dies()
			})
			client := &errandBoy{link: g.client, rng: rand.New(rand.NewPCG(seed, 99)), open: map[string]errand{}, cancelled: map[string]bool{}}
			client.talk(150)
			time.Sleep(time.Second)
			close(done)
			all.Wait()
			time.Sleep(2 * stateLifetime) // who was to come back has had its time
			synctest.Wait()
			client.listen()
			client.check(seed)
			for i, one := range servers {
				one.check(seed, i != 1)
			}
			if all := session.Simulate(g.s).Held(); all.Suspended > 0 || all.Bytes != 0 || g.s.Pending() > 0 {
				t.Errorf("seed %d: %d calls are suspended with %d bytes, %d pending", seed, all.Suspended, all.Bytes, g.s.Pending())
			}
		})
	}
}

// An errandBoy is a client that makes calls and comes back with answers, mostly.
type errandBoy struct {
	*link
	rng       *rand.Rand
	ids       int
	open      map[string]errand // requests without an answer, by id
	cancelled map[string]bool
	finished  int
	resumed   int
}

// An errand is what a request is about, however often it is made.
type errand struct {
	tool, arguments string
	double          bool // the same retry was made twice
}

func (c *errandBoy) send(e errand, more string) (id string) {
	c.ids++
	id = fmt.Sprint(c.ids)
	c.open[id] = e
	c.says(capableCall(id, "tools/call", `"name":"`+e.tool+`","arguments":`+e.arguments, able, more))
	return id
}

func (c *errandBoy) talk(errands int) {
	for n := range errands {
		c.send(errand{tool: pick(c.rng, "a_x", "b_x", "c_x", "c_x"), arguments: fmt.Sprintf(`{"n":%d}`, n)}, "")
		if c.rng.IntN(3) == 0 {
			time.Sleep(time.Duration(c.rng.IntN(2000)) * time.Microsecond)
		}
		c.listen()
	}
	for range 200 {
		time.Sleep(time.Millisecond)
		c.listen()
	}
}

// listen takes answers, and comes back for those that ask.
func (c *errandBoy) listen() {
	for _, frame := range c.hears() {
		m := scanned(c.t, frame)
		id := string(m.Bytes(m.ID))
		e, ok := c.open[id]
		if m.Kind != jsonrpc.Response || !ok && !c.cancelled[id] {
			c.t.Errorf("not asked for: %s", frame)
			continue
		}
		delete(c.open, id)
		if state, _ := m.Get(m.Result, "requestState"); state.Present() && ok {
			asks, _ := m.Get(m.Result, "inputRequests")
			c.comeBack(e, string(m.Bytes(state)), m, asks)
			continue
		}
		c.finish(e, m, ok)
	}
}

func (c *errandBoy) finish(e errand, m *jsonrpc.Message, ok bool) {
	c.finished++
	if echo, _ := m.Get(m.Result, "echo"); echo.Present() && ok && string(m.Bytes(echo)) != e.arguments {
		c.t.Errorf("another's answer: %s for %s", m.Frame, e.arguments)
	}
	dead := bytes.Contains(m.Bytes(m.Err), []byte("server b is gone"))
	if m.Err.Present() && ok && !e.double && !dead {
		c.t.Errorf("refused: %s", m.Frame)
	}
}

func (c *errandBoy) comeBack(e errand, state string, m *jsonrpc.Message, asks jsonrpc.Span) {
	answers := ""
	for key := range jsonrpc.Members(m.Frame, asks) {
		if c.rng.IntN(8) > 0 { // or forgets it
			answers += fmt.Sprintf(`,%q:{"action":"accept"}`, key)
		}
	}
	members := retryMembers(state, "")
	if answers != "" {
		members = retryMembers(state, "{"+answers[1:]+"}")
	}
	c.resumed++
	switch c.rng.IntN(12) {
	case 0: // never
	case 1:
		e.double = true
		c.send(e, members)
		c.send(e, members)
	case 2:
		id := c.send(e, members)
		delete(c.open, id)
		c.cancelled[id] = true
		c.says(fmt.Sprintf(cancelFrame, id))
	case 3:
		time.Sleep(time.Duration(c.rng.IntN(5)) * time.Millisecond)
		fallthrough
	default:
		c.send(e, members)
	}
}

func (c *errandBoy) check(seed uint64) {
	if len(c.open) > 0 {
		c.t.Errorf("seed %d: %d requests have no answer: %v", seed, len(c.open), c.open)
	}
	if c.resumed < 20 || c.finished < 50 {
		c.t.Errorf("seed %d: only %d rounds and %d ends", seed, c.resumed, c.finished)
	}
}

// An asker is a legacy server that asks some questions during each call.
type asker struct {
	*link
	rng       *rand.Rand
	runs      map[string]int
	questions map[string]int // how often each was answered
	takenBack map[string]bool
	late      []string // answers for calls, to be written later
}

func (s *asker) serve(done chan struct{}) {
	for {
		s.listen()
		s.rng.Shuffle(len(s.late), func(i, j int) { s.late[i], s.late[j] = s.late[j], s.late[i] })
		for len(s.late) > 0 && s.rng.IntN(3) > 0 {
			s.says(s.late[0])
			s.late = s.late[1:]
		}
		select {
		case <-done:
			return
		case <-time.After(time.Duration(1+s.rng.IntN(3000)) * time.Microsecond):
		}
	}
}

func (s *asker) listen() {
	for _, frame := range s.hears() {
		switch m := scanned(s.t, frame); m.Kind {
		case jsonrpc.Request:
			s.run(m)
		case jsonrpc.Response:
			s.questions[string(m.Bytes(m.ID))]++
		}
	}
}

// run asks, takes a question back at times, and answers, now or later.
func (s *asker) run(m *jsonrpc.Message) {
	at, _ := m.Param("arguments")
	arguments := string(m.Bytes(at))
	s.runs[arguments]++
	for i := range s.rng.IntN(3) {
		id := fmt.Sprintf(`"%d of %s"`, i, m.Bytes(m.ID))
		s.questions[id] = 0
		s.says(`{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":{"message":"?"}}`)
		if s.rng.IntN(10) == 0 {
			s.takenBack[id] = true
			s.says(fmt.Sprintf(cancelFrame, id))
		}
	}
	s.late = append(s.late, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"echo":%s}}`, m.Bytes(m.ID), arguments))
}

func (s *asker) check(seed uint64, alive bool) {
	s.listen()
	for arguments, n := range s.runs {
		if n != 1 {
			s.t.Errorf("seed %d: %s has run %d times", seed, arguments, n)
		}
	}
	for id, n := range s.questions {
		// The answer may have crossed with the cancellation, and need not come from then on.
		if n > 1 || n == 0 && alive && !s.takenBack[id] {
			s.t.Errorf("seed %d: the question %s was answered %d times", seed, id, n)
		}
	}
	if n := s.u.Calls.Len(); n > 0 {
		s.t.Errorf("seed %d: %d calls are left with %s", seed, n, s.u.Name)
	}
}
