package router

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/router/session"
)

// TestHistoriesOfRounds plays random histories of calls for which a modern server needs
// input: rounds with and without questions, answers in any order, errors, damaged
// and late ones, cancellations, time, the end of either side. A model says after every
// step what everybody must have been sent.
func TestHistoriesOfRounds(t *testing.T) {
	count := uint64(1500)
	if raced {
		count = 200
	}
	for seed := uint64(1); seed <= count && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			s := &roundSim{roundRig: newRoundRig(t, asksAll), rng: rand.New(rand.NewPCG(seed, 1))}
			w, lines := auditTo(t)
			s.s.Audit = w
			s.r.clock.EnableTiming()
			for range 10 + s.rng.IntN(60) {
				s.step()
				if t.Failed() {
					break
				}
			}
			s.end()
			if n := len(lines()); n != len(s.calls) {
				t.Errorf("%d of %d calls are audited", n, len(s.calls))
			}
			if t.Failed() {
				t.Errorf("the history of seed %d:\n%s", seed, strings.Join(s.history, "\n"))
			}
		})
	}
}

type roundSim struct {
	*roundRig
	rng      *rand.Rand
	history  []string
	calls    []*roundCall
	serial   int
	toClient []string // what must have been sent since the last check
	toServer []string
	dead     bool
}

// A roundCall is a call, and where it is.
type roundCall struct {
	id, theirs string
	n          int // marks it
	at         callPlace
	since      time.Time // it is there
	order      int       // of those in the same place
	rounds     int
	state      string // as a member with a comma, or ""
	legs       []*roundLeg
}

type callPlace int

const (
	atServer callPlace = iota
	atClient           // which is asked
	pausing
	isOver
)

type roundLeg struct{ id, answer string }

func (s *roundSim) next() int {
	s.serial++
	return s.serial
}

func (s *roundSim) step() {
	steps := []struct {
		weight int
		do     func()
	}{{10, s.call}, {20, s.require}, {5, s.complete}, {30, s.answer}, {3, s.answerWithError}, {3, s.answerLate}, {4, s.cancel}, {4, s.pass}, {1, s.die}}
	n := s.rng.IntN(80)
	for _, one := range steps {
		if n -= one.weight; n < 0 {
			one.do()
			break
		}
	}
	s.check()
}

// check compares what everybody was sent with what the model says. Calls that are made
// again tell their new ids.
func (s *roundSim) check() {
	s.t.Helper()
	synctest.Wait()
	var got []string
	for _, frame := range s.server.hears() {
		m := scanned(s.t, frame)
		if m.Kind == jsonrpc.Request {
			for _, c := range s.calls {
				if args, _ := m.Param("arguments"); string(m.Bytes(args)) == fmt.Sprintf(`{"n":%d}`, c.n) {
					c.theirs = string(m.Bytes(m.ID))
					frame = strings.Replace(frame, `"id":`+c.theirs, `"id":#`, 1)
				}
			}
		}
		got = append(got, frame)
	}
	heard := slices.DeleteFunc(s.client.hears(), func(frame string) bool { return strings.Contains(frame, "list_changed") })
	for _, list := range [][]string{got, heard, s.toServer, s.toClient} {
		slices.Sort(list)
	}
	checkList(s.t, "the server was sent", got, s.toServer...)
	checkList(s.t, "the client was sent", heard, s.toClient...)
	s.toServer, s.toClient = nil, nil
}

func (s *roundSim) note(format string, args ...any) {
	s.history = append(s.history, fmt.Sprintf(format, args...))
}

func (s *roundSim) some(at ...callPlace) *roundCall {
	var fit []*roundCall
	for _, c := range s.calls {
		if slices.Contains(at, c.at) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return pick(s.rng, fit...)
}

func (s *roundSim) move(c *roundCall, to callPlace) {
	c.at, c.since, c.order = to, time.Now(), s.next()
}

func (s *roundSim) call() {
	if s.dead {
		return
	}
	c := &roundCall{id: pick(s.rng, "1", `"1"`, "2"), n: s.next()}
	s.note("call %s as %d", c.id, c.n)
	s.client.says(callFrame(c.id, "ns_echo", fmt.Sprintf(`{"n":%d}`, c.n)))
	s.calls = append(s.calls, c)
	s.submitted(c, "")
}

// submitted notes that the server must have been sent the call, with these members.
func (s *roundSim) submitted(c *roundCall, members string) {
	s.toServer = append(s.toServer, fmt.Sprintf(`{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{%s%s,"name":"echo","arguments":{"n":%d}}}`, members, s.claim, c.n))
	s.move(c, atServer)
}

func (s *roundSim) failed(c *roundCall, why string) {
	for _, l := range c.legs {
		if c.at == atClient && l.answer == "" {
			s.toClient = append(s.toClient, takenBack(l.id, over))
		}
	}
	s.toClient = append(s.toClient, failed(c.id, why))
	s.move(c, isOver)
}

// require has the server ask for input.
func (s *roundSim) require() {
	c := s.some(atServer)
	if c == nil {
		return
	}
	requests := make([]string, s.rng.IntN(4))
	c.state, c.legs = "", nil
	if len(requests) == 0 || s.rng.IntN(2) == 0 {
		c.state = fmt.Sprintf(`"requestState":"%d",`, s.next())
	}
	for i := range requests {
		requests[i] = fmt.Sprintf(`"%d":{"method":"roots/list","params":{"n":%d}}`, i, i)
	}
	s.note("%d needs %d answers, %s", c.n, len(requests), c.state)
	s.requires(c.theirs, c.state+`"inputRequests":{`+strings.Join(requests, ",")+`}`)
	if c.rounds++; c.rounds > mostRounds {
		s.failed(c, "server ns has asked for input 10 times during this call and requests more; toolman allows no more")
		return
	}
	if len(requests) == 0 {
		s.move(c, pausing)
		return
	}
	s.move(c, atClient)
	for i, frame := range s.client.hears() {
		c.legs = append(c.legs, &roundLeg{id: idOf(s.t, frame)})
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"roots/list","params":{"n":%d}}`, c.legs[i].id, i); frame != want {
			s.t.Errorf("the client is asked %s, want %s", frame, want)
		}
	}
}

func (s *roundSim) complete() {
	if c := s.some(atServer); c != nil {
		s.note("%d is complete", c.n)
		s.server.says(reply(c.theirs, fmt.Sprintf(`{"resultType":"complete","n":%d}`, c.n)))
		s.toClient = append(s.toClient, reply(c.id, fmt.Sprintf(`{"n":%d}`, c.n)))
		s.move(c, isOver)
	}
}

// waiting is a leg that the client has not answered.
func (c *roundCall) waiting() int {
	return slices.IndexFunc(c.legs, func(l *roundLeg) bool { return l.answer == "" })
}

func (s *roundSim) answer() {
	c := s.some(atClient)
	if c == nil {
		return
	}
	l := pick(s.rng, c.legs...)
	if l.answer != "" {
		l = c.legs[c.waiting()]
	}
	s.note("%d: the answer to %s", c.n, l.id)
	l.answer = fmt.Sprintf(`{"roots":[%d]}`, s.next())
	s.client.says(reply(l.id, l.answer), reply(l.id, `{"again":true}`))
	if c.waiting() >= 0 {
		return
	}
	var answers []string
	for i, l := range c.legs {
		answers = append(answers, fmt.Sprintf(`"%d":%s`, i, l.answer))
	}
	s.submitted(c, `"inputResponses":{`+strings.Join(answers, ",")+`},`+c.state)
}

func (s *roundSim) answerWithError() {
	c := s.some(atClient)
	if c == nil {
		return
	}
	l := c.legs[c.waiting()]
	s.note("%d: an error for %s", c.n, l.id)
	l.answer = "an error"
	const why = "server ns needs roots/list of the client for this, which could not be had: "
	if s.rng.IntN(2) == 0 {
		s.client.says(`{"jsonrpc":"2.0","id":` + l.id + `,"error":{"code":-1,"message":"no"}}`)
		s.failed(c, why+"the client answered with an error: no")
		return
	}
	s.client.says(`{"jsonrpc":"2.0","id":` + l.id + `,"result":"{}"}`)
	s.failed(c, why+"the client's answer is not an object")
}

// answerLate has everybody answer what is over.
func (s *roundSim) answerLate() {
	if c := s.some(isOver, pausing); c != nil {
		s.note("%d: late answers", c.n)
		s.server.says(reply(c.theirs, `{"resultType":"complete"}`))
		for _, l := range c.legs {
			s.client.says(reply(l.id, `{}`))
		}
	}
}

// cancel cancels the newest call under an id for which something is asked or that
// pauses, and otherwise the newest that the server has.
func (s *roundSim) cancel() {
	id := pick(s.rng, "1", `"1"`, "2")
	var meant *roundCall
	for _, c := range s.calls {
		if c.id == id && c.at != isOver && (meant == nil || (c.at != atServer) != (meant.at != atServer) && c.at != atServer ||
			(c.at != atServer) == (meant.at != atServer) && c.order > meant.order) {
			meant = c
		}
	}
	s.client.says(fmt.Sprintf(cancelFrame, id))
	if meant == nil {
		return
	}
	s.note("%d is cancelled", meant.n)
	if meant.at == atServer {
		s.toServer = append(s.toServer, fmt.Sprintf(cancelFrame, meant.theirs))
	}
	for _, l := range meant.legs {
		if meant.at == atClient && l.answer == "" {
			s.toClient = append(s.toClient, takenBack(l.id, over))
		}
	}
	s.move(meant, isOver)
}

func (s *roundSim) pass() {
	d := pick(s.rng, 20*time.Millisecond, 100*time.Millisecond, 300*time.Millisecond, time.Minute, 6*time.Minute)
	s.note("%v pass", d)
	time.Sleep(d)
	for _, c := range s.calls {
		switch {
		case c.at == pausing && time.Since(c.since) >= roundPause:
			s.submitted(c, c.state)
		case c.at == atClient && time.Since(c.since) >= roundTimeout:
			s.failed(c, "server ns needs input of the client for this, and the client has not answered within 10m0s")
		}
	}
}

func (s *roundSim) die() {
	if s.dead {
		return
	}
	s.note("the server dies")
	s.dead = true
	s.server.dies()
	s.endAll(s.server.u.GoneText(), "the server has disconnected", isOver)
}

// endAll ends the calls that are open, but in the place.
func (s *roundSim) endAll(why, reason string, but callPlace) {
	for _, c := range s.calls {
		if c.at == isOver || c.at == but {
			continue
		}
		for _, l := range c.legs {
			if c.at == atClient && l.answer == "" && reason != "" {
				s.toClient = append(s.toClient, takenBack(l.id, reason))
			}
		}
		s.toClient = append(s.toClient, failed(c.id, why))
		s.move(c, isOver)
	}
}

// end has the client close its side and toolman end.
func (s *roundSim) end() {
	s.note("end")
	s.client.handler.(*session.Session).Closed(io.EOF)
	var pending []*roundCall
	for _, c := range s.calls {
		switch c.at {
		case atClient:
			s.toClient = append(s.toClient, failed(c.id, "server ns needs roots/list of the client for this, which could not be had: the client is gone"))
			s.move(c, isOver)
		case atServer, pausing:
			pending = append(pending, c)
		}
	}
	s.check()
	if n := s.s.Pending(); n != len(pending) {
		s.t.Errorf("%d pending, want %d", n, len(pending))
	}
	s.s.Abandon()
	s.endAll("toolman is ending because its client closed the connection; this was not answered in time", "", isOver)
	s.check()
	time.Sleep(time.Hour)
	s.check()
	if n := s.server.u.Calls.Len() + session.Simulate(s.s).Held().ServerRequests + session.Simulate(s.s).Held().Rounds; n != 0 {
		s.t.Errorf("%d are left", n)
	}
}
