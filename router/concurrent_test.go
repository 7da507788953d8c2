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
	"toolman/mcpwire"
	"toolman/router/catalog"
)

// TestConcurrentHistories has the client, every server and whatever ends a server
// on goroutines of their own, as they are where there is no Loop. What is not
// cancelled is answered once, by its own server or in its place.
func TestConcurrentHistories(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			const calls = 300
			w, lines := auditTo(t)
			g := newRig(t, setup{active: []string{"*"}, Options: Options{Settle: 5 * time.Millisecond, Audit: w}},
				offer{namespace: "a", tools: []string{"x"}, timeout: 20 * time.Millisecond, most: int(seed % 3)},
				offer{namespace: "b", tools: []string{"x"}, most: int(seed % 2)}, offer{namespace: "c", tools: []string{"x"}})
			var all sync.WaitGroup
			done := make(chan struct{})
			for i, l := range g.servers {
				all.Go(func() { l.serve(rand.New(rand.NewPCG(seed, uint64(i))), done) })
			}
			all.Go(func() {
				time.Sleep(time.Duration(seed) * time.Millisecond)
				g.servers[1].dies()
			})
			cancelled := g.chatter(rand.New(rand.NewPCG(seed, 99)), calls)
			time.Sleep(time.Second)
			close(done)
			all.Wait()
			synctest.Wait()
			checkAnswers(t, g.client.hears(), calls, cancelled)
			audited := 0
			for _, l := range lines() {
				if l.Name != catalog.ActivateTool {
					audited++
				}
			}
			if audited != calls {
				t.Errorf("seed %d: %d of %d calls are audited", seed, audited, calls)
			}
			for _, u := range g.r.all() {
				if n := u.Calls.Len(); n > 0 {
					t.Errorf("seed %d: %d calls are left with %s", seed, n, u.Name)
				}
				if !u.Calls.Limited() {
					continue
				}
				if has := u.Calls.Counts(); !has.Closed && (has.Active != 0 || has.Queued > 0) {
					t.Errorf("seed %d: the limiter of %s has %+v", seed, u.Name, has)
				}
			}
		})
	}
}

// chatter has the client call, cancel, activate and list.
func (g *rig) chatter(rng *rand.Rand, calls int) (cancelled map[int]bool) {
	cancelled = map[int]bool{}
	for n := range calls {
		name := pick(rng, "a_x", "b_x", "c_x", "a_x", "unknown")
		g.client.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d},"_meta":{"progressToken":%d}}}`, n, name, n, n))
		switch rng.IntN(12) {
		case 0:
			victim := rng.IntN(n + 1)
			cancelled[victim] = true
			g.client.says(fmt.Sprintf(cancelFrame, fmt.Sprint(victim)))
		case 1:
			g.client.says(activation{toolsOn: []string{"c_x"}}.frame(`"on"`), activation{toolsOff: []string{"c_x"}}.frame(`"off"`))
		case 2:
			g.client.says(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
		case 3:
			time.Sleep(time.Millisecond)
		}
	}
	return cancelled
}

// serve answers what the server is asked, in any order and sometimes twice, and
// tells of progress before and after.
func (l *link) serve(rng *rand.Rand, done chan struct{}) {
	var open []string
	for {
		for _, frame := range l.hears() {
			m := scanned(l.t, frame)
			if m.Kind == jsonrpc.Request {
				args, _ := m.Param("arguments")
				open = append(open, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"by":%q,"echo":%s}}`, m.Bytes(m.ID), l.u.Namespace, m.Bytes(args)))
			}
		}
		rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		for len(open) > 0 && rng.IntN(4) > 0 {
			l.says(fmt.Sprintf(progressFrame, idOf(l.t, open[0])), open[0], open[0], fmt.Sprintf(progressFrame, idOf(l.t, open[0])))
			open = open[1:]
		}
		select {
		case <-done:
			return
		case <-time.After(time.Duration(rng.IntN(3000)) * time.Microsecond):
		}
	}
}

func checkAnswers(t *testing.T, heard []string, calls int, cancelled map[int]bool) {
	t.Helper()
	answers := make([]int, calls)
	for _, frame := range heard {
		m := scanned(t, frame)
		var n int
		if m.Kind != jsonrpc.Response || m.IsString(m.ID) {
			continue
		}
		fmt.Sscan(string(m.Bytes(m.ID)), &n)
		answers[n]++
		if by, err := m.Get(m.Result, "by"); err == nil && by.Present() {
			if !strings.HasSuffix(frame, fmt.Sprintf(`"echo":{"n":%d}}}`, n)) {
				t.Errorf("%d is answered with %s", n, frame)
			}
		} else {
			refusalOf(t, frame, mcpwire.ToolsCall, 0)
		}
	}
	for n, count := range answers {
		if count != 1 && (count > 1 || !cancelled[n]) {
			t.Errorf("%d is answered %d times, cancelled: %v", n, count, cancelled[n])
		}
	}
}
