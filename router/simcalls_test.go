package router

import (
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"toolman/mcpwire"
)

// failed is a tool's answer of toolman's own.
func failed(id, text string) string {
	return string(mcpwire.AppendFailure(mcpwire.Legacy, nil, []byte(id), mcpwire.ToolsCall, 0, text))
}

// call has the client call something.
func (s *simulation) call() {
	c := &simCall{id: pick(s.rng, "1", `"1"`, "2", "-3.50", `"\u0061"`), serial: s.next(), opened: time.Now()}
	name := s.names.any(s.rng)
	meta := ""
	if s.rng.IntN(3) == 0 {
		c.token = pick(s.rng, "0", `"t"`, "1")
		meta = `,"_meta":{"progressToken":` + c.token + `}`
	}
	const frame = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d}%s}}`
	owner, bare, active := s.names.find(name)
	s.note("  %s of %s by %d, %v", c.id, name, owner, active)
	s.g.client.says(fmt.Sprintf(frame, c.id, name, c.serial, meta))
	if !active {
		s.refused(c.id, owner >= 0)
		return
	}
	c.server = owner
	server := s.g.servers[owner]
	got := server.hears()
	if len(got) != 1 {
		s.t.Errorf("server %d was sent %q", owner, got)
		return
	}
	c.theirs = idOf(s.t, got[0])
	if c.token != "" {
		meta = `,"_meta":{"progressToken":` + c.theirs + `}`
	}
	if want := fmt.Sprintf(frame, c.theirs, bare, c.serial, meta); got[0] != want {
		s.t.Errorf("server %d was sent %s, want %s", owner, got[0], want)
	}
	s.calls = append(s.calls, c)
}

// refused checks that the client was told why it cannot call something.
func (s *simulation) refused(id string, inactive bool) {
	s.t.Helper()
	heard := s.g.client.hears()
	if len(heard) != 1 {
		s.t.Errorf("the client was sent %q", heard)
		return
	}
	text := refusalOf(s.t, heard[0], mcpwire.ToolsCall, 0)
	if idOf(s.t, heard[0]) != id || strings.Contains(text, "is not active") != inactive || (strings.HasPrefix(text, "unknown tool") || strings.Contains(text, " is gone (") || strings.Contains(text, " is still starting")) == inactive {
		s.t.Errorf("%s was answered with %s", id, heard[0])
	}
}

func (c *simCall) isOpen() bool { return !c.over }

func result(id string, serial int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":%d}}`, id, serial)
}

// answer has a server answer one of its calls.
func (s *simulation) answer() {
	if c := s.some(s.calls, (*simCall).isOpen); c != nil {
		s.note("  %d", c.serial)
		s.g.servers[c.server].says(result(c.theirs, c.serial))
		c.over = true
		s.client(result(c.id, c.serial))
	}
}

// answerAgain has a server answer what is answered, cancelled or given up.
func (s *simulation) answerAgain() {
	if c := s.some(s.calls, func(c *simCall) bool { return c.over }); c != nil {
		s.note("  %d", c.serial)
		s.g.servers[c.server].says(result(c.theirs, c.serial))
	}
}

// answerForeign has a server answer another's call.
func (s *simulation) answerForeign() {
	if c := s.some(s.calls, (*simCall).isOpen); c != nil {
		other := (c.server + 1 + s.rng.IntN(len(s.g.servers)-1)) % len(s.g.servers)
		if s.some(s.calls, func(o *simCall) bool { return o.server == other && o.theirs == c.theirs }) == nil {
			s.note("  %d by %d", c.serial, other)
			s.g.servers[other].says(result(c.theirs, c.serial), fmt.Sprintf(progressFrame, c.theirs))
		}
	}
}

// answerDamaged has a server write an answer that cannot be read.
func (s *simulation) answerDamaged() {
	c := s.some(s.calls, (*simCall).isOpen)
	if c == nil {
		return
	}
	s.note("  %d", c.serial)
	s.g.servers[c.server].says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":tru}}`, c.theirs))
	c.over = true
	at := len(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":`, c.theirs)) + 1
	s.client(failed(c.id, fmt.Sprintf("the answer of server %s could not be passed on: not valid JSON at byte %d: expected a value", s.g.servers[c.server].u.Name, at)))
}

// junk has anybody write what means nothing.
func (s *simulation) junk() {
	for _, l := range append(slices.Clone(s.g.servers), s.g.client) {
		l.says(`{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","id":null,"result":{}}`, `{"jsonrpc":"2.0","id":1.0,"result":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody's"}}`, fmt.Sprintf(progressFrame, `"nobody's"`))
	}
	s.g.servers[0].says("hello")
}

// cancel has the client cancel something. Of requests under one id, the newest of
// the first server is meant.
func (s *simulation) cancel() {
	id := pick(s.rng, "1", `"1"`, "2", "-3.50", `"\u0061"`, `"unknown"`)
	var meant *simCall
	for _, c := range s.calls {
		if c.id == id && !c.over && (meant == nil || c.server <= meant.server) {
			meant = c
		}
	}
	s.note("  %s", id)
	s.g.client.says(fmt.Sprintf(cancelFrame, id))
	if meant != nil {
		s.note("  %d", meant.serial)
		meant.over = true
		s.g.servers[meant.server].wants(fmt.Sprintf(cancelFrame, meant.theirs))
	}
}

// progress has a server tell how a call is, be it over or not.
func (s *simulation) progress() {
	if c := s.some(s.calls, func(*simCall) bool { return true }); c != nil {
		s.note("  %d", c.serial)
		s.g.servers[c.server].says(fmt.Sprintf(progressFrame, c.theirs))
		if !c.over && c.token != "" {
			c.heard = time.Now()
			s.client(fmt.Sprintf(progressFrame, c.token))
		}
	}
}

// pass lets time pass, and with it what takes too long.
func (s *simulation) pass() {
	d := pick(s.rng, 10*time.Millisecond, 100*time.Millisecond, time.Second, 6*time.Second, 11*time.Second)
	s.note("  %s", d)
	time.Sleep(d)
	synctest.Wait()
	var want []string
	told := s.g.servers[0].hears()
	slices.Sort(told)
	var cancelled []string
	for _, c := range s.calls {
		name, text := s.g.servers[0].u.Name, "server %s did not answer within %s (call_timeout); the call was cancelled there"
		due := c.opened.Add(simTimeout)
		if !c.heard.IsZero() {
			text = "server %s has sent neither an answer nor progress for %s (call_timeout), or has taken 10 times as long in all; the call was cancelled there"
			if due = c.heard.Add(simTimeout); due.After(c.opened.Add(10 * simTimeout)) {
				due = c.opened.Add(10 * simTimeout)
			}
		}
		if c.server == 0 && !c.over && time.Now().After(due) {
			c.over = true
			want = append(want, failed(c.id, fmt.Sprintf(text, name, simTimeout)))
			cancelled = append(cancelled, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+c.theirs+`,"reason":"call_timeout"}}`)
		}
	}
	slices.Sort(cancelled)
	checkList(s.t, "server 0 was sent", told, cancelled...)
	s.client(want...)
}
