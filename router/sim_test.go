package router

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

var (
	simSeed  = flag.Uint64("seed", 1, "seed of the first history of TestHistories")
	simCount = flag.Int("histories", 0, "how many histories TestHistories plays; 0: 10,000, or fewer with the race detector")
)

// TestHistories plays random histories: calls, answers in any order, damaged and
// foreign ones, cancellations, deaths, time-outs, activations, changes, and what
// servers ask. A model says after every step what everybody must have been sent:
// every request is answered once, by its own server, under its own id, or was
// cancelled.
func TestHistories(t *testing.T) {
	count := *simCount
	if count == 0 {
		count = 10_000
		if raced {
			count = 400
		}
	}
	const shards = 2
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for seed := *simSeed + uint64(shard); seed < *simSeed+uint64(count) && !t.Failed(); seed += shards {
				synctest.Test(t, func(t *testing.T) { play(t, seed) })
			}
		})
	}
}

// play plays one history.
func play(t *testing.T, seed uint64) {
	s := newSimulation(t, seed)
	defer func() {
		if s.writer != nil {
			s.writer.Close(time.Second)
		}
		if t.Failed() {
			t.Errorf("the history of seed %d:\n%s\nplay it again: go test ./router -run TestHistories -histories 1 -seed %d", seed, strings.Join(s.history, "\n"), seed)
		}
	}()
	for range 20 + s.rng.IntN(60) {
		s.step()
		if t.Failed() {
			return
		}
	}
	s.end()
}

// A simulation is a rig and the model of what must become of it.
type simulation struct {
	t       *testing.T
	rng     *rand.Rand
	g       *rig
	history []string
	names   *simNames
	serial  int // marks each request, so that answers can be told apart
	calls   []*simCall
	asks    []*simCall
	acts    map[string]bool // ids of activations that wait for their answer
	traced  *bytes.Buffer
	writer  *trace.Writer
}

// A simCall is a request, of the client to a server or the other way round.
type simCall struct {
	id, token string // as the one who asks has them
	theirs    string // the id that the one who is asked has seen
	server    int
	serial    int
	opened    time.Time
	heard     time.Time // when progress came last; zero: none has
	over      bool      // answered or cancelled
}

const simTimeout = 10*time.Second + 5*time.Millisecond // of server 0; time passes in steps of 10 ms

func newSimulation(t *testing.T, seed uint64) *simulation {
	s := &simulation{t: t, rng: rand.New(rand.NewPCG(seed, 0)), acts: map[string]bool{}}
	from := setup{active: []string{"*on*"}, Options: Options{Settle: time.Duration(s.rng.IntN(3)) * 100 * time.Millisecond}}
	if seed%25 == 0 {
		s.traced = new(bytes.Buffer)
		s.writer = trace.NewWriter(s.traced, trace.Options{})
		from.trace = s.writer
	}
	s.names = newSimNames(s.rng)
	offers := make([]offer, len(s.names.namespaces))
	for i, namespace := range s.names.namespaces {
		offers[i] = offer{namespace: namespace, tools: s.names.has[i]}
	}
	offers[0].timeout = simTimeout
	s.g = newRig(t, from, offers...)
	return s
}

func (s *simulation) step() {
	steps := []struct {
		weight int
		name   string
		do     func()
	}{
		{20, "call", s.call}, {20, "answer", s.answer}, {4, "answer again", s.answerAgain}, {3, "answer another's", s.answerForeign},
		{3, "damaged answer", s.answerDamaged}, {2, "junk", s.junk}, {6, "cancel", s.cancel}, {5, "progress", s.progress}, {1, "die", s.die},
		{6, "time", s.pass}, {6, "activate", s.activate}, {4, "list", s.list}, {3, "change", s.change}, {5, "ask", s.ask},
		{5, "answer ask", s.answerAsk}, {2, "cancel ask", s.cancelAsk}, {1, "ping", s.ping}, {1, "full", s.full},
	}
	total := 0
	for _, one := range steps {
		total += one.weight
	}
	n := s.rng.IntN(total)
	for _, one := range steps {
		if n -= one.weight; n < 0 {
			s.note("%s", one.name)
			one.do()
			break
		}
	}
	synctest.Wait()
	s.settled()
	checkList(s.t, "active tools", namesOf(s.g.view().ActiveEntries(mcpwire.Tool)), s.names.active()...)
}

func (s *simulation) note(format string, args ...any) {
	s.history = append(s.history, fmt.Sprintf("%3d ", len(s.history))+fmt.Sprintf(format, args...))
}

// settled checks that nobody was sent anything that no step has accounted for.
func (s *simulation) settled() {
	s.client()
	for _, l := range s.g.servers {
		l.wants()
	}
}

// client checks what the client was sent, in any order. Answers of activations and
// announcements are taken out: they come when they come.
func (s *simulation) client(want ...string) {
	var got []string
	for _, frame := range s.g.client.hears() {
		m := scanned(s.t, frame)
		id := string(m.Bytes(m.ID))
		switch {
		case m.Kind == jsonrpc.Response && strings.HasPrefix(id, `"act`):
			if !s.acts[id] {
				s.t.Errorf("an activation is answered that was not asked for, or twice: %s", frame)
			}
			delete(s.acts, id)
		case m.Kind == jsonrpc.Notification && strings.HasSuffix(string(m.Text(m.Method)), "/list_changed"):
		default:
			got = append(got, frame)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	checkList(s.t, "the client was sent", got, want...)
}

func (s *simulation) next() int {
	s.serial++
	return s.serial
}

// some returns one of the requests that match, or nil.
func (s *simulation) some(all []*simCall, match func(*simCall) bool) *simCall {
	var fit []*simCall
	for _, c := range all {
		if match(c) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[s.rng.IntN(len(fit))]
}

// die ends a server.
func (s *simulation) die() {
	i := s.rng.IntN(len(s.g.servers))
	if s.names.dead[i] {
		return
	}
	s.note("  %d", i)
	s.names.dead[i] = true
	s.g.servers[i].dies()
	var want []string
	for _, c := range s.calls {
		if c.server == i && !c.over {
			c.over = true
			want = append(want, failed(c.id, s.g.servers[i].u.GoneText()))
		}
	}
	for _, q := range s.asks {
		if q.server == i && !q.over {
			q.over = true
			want = append(want, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+q.theirs+`,"reason":"the server has disconnected"}}`)
		}
	}
	s.client(want...)
}

func (s *simulation) ping() {
	i := s.rng.IntN(len(s.g.servers))
	s.g.servers[i].says(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	s.g.servers[i].wants(`{"jsonrpc":"2.0","id":"p","result":{}}`)
	s.g.client.says(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	s.client(`{"jsonrpc":"2.0","id":"p","result":{}}`)
}

// full has the client call something of a server that does not read.
func (s *simulation) full() {
	name := s.names.any(s.rng)
	owner, _, active := s.names.find(name)
	if !active || s.traced != nil { // the trace has what was to be sent
		return
	}
	l := s.g.servers[owner]
	l.refuses = jsonrpc.ErrQueueFull
	s.g.client.says(callFrame("9", name, "{}"))
	l.refuses = nil
	s.client(failed("9", unreadBy(l.u)))
}

// end closes the connection and has all that is open answered.
func (s *simulation) end() {
	s.note("end")
	s.g.s.Closed(io.EOF)
	asked := make([][]string, len(s.g.servers))
	for _, q := range s.asks {
		if !q.over {
			asked[q.server] = append(asked[q.server], `{"jsonrpc":"2.0","id":`+q.id+`,"error":{"code":-32603,"message":"the client is gone"}}`)
		}
	}
	for i, l := range s.g.servers {
		told := l.hears()
		slices.Sort(told)
		slices.Sort(asked[i])
		checkList(s.t, fmt.Sprintf("server %d was sent", i), told, asked[i]...)
	}
	s.client()
	if len(s.acts) > 0 {
		s.t.Errorf("activations without an answer: %v", s.acts)
	}
	var want []string
	for _, c := range s.calls {
		if !c.over {
			want = append(want, failed(c.id, "toolman is ending because its client closed the connection; this was not answered in time"))
		}
	}
	if n := s.g.s.Pending(); n != len(want) {
		s.t.Errorf("%d pending, want %d", n, len(want))
	}
	s.g.s.Abandon()
	s.client(want...)
	time.Sleep(time.Hour)
	synctest.Wait()
	s.settled()
	for _, u := range s.g.r.all() {
		if n := u.Calls.Len(); n > 0 {
			s.t.Errorf("%d calls are left with %s", n, u.Name)
		}
	}
	s.checkTrace()
}

// checkTrace compares the trace with what was said and sent.
func (s *simulation) checkTrace() {
	if s.traced == nil {
		return
	}
	if err := s.writer.Close(time.Second); err != nil {
		s.t.Fatal(err)
	}
	in, out := map[*link][]string{}, map[*link][]string{}
	for r, err := range trace.Read(s.traced) {
		if err != nil {
			s.t.Fatal(err)
		}
		l := s.g.client
		for _, server := range s.g.servers {
			if r.Leg == trace.Upstream && r.Peer == server.u.Name {
				l = server
			}
		}
		switch {
		case r.Type != trace.TypeFrame:
		case r.Dir == trace.In:
			in[l] = append(in[l], string(r.Payload()))
		default:
			out[l] = append(out[l], string(r.Payload()))
		}
	}
	for i, l := range append([]*link{s.g.client}, s.g.servers...) {
		checkList(s.t, fmt.Sprintf("link %d: traced as said", i), in[l], l.said...)
		checkList(s.t, fmt.Sprintf("link %d: traced as sent", i), out[l], l.sent...)
	}
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }
