package router

import (
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/router/session"
	"toolman/router/view"
)

// activate has the client switch tools.
func (s *simulation) activate() {
	var a activation
	wrong := false
	for range 1 + s.rng.IntN(3) {
		name := s.names.any(s.rng)
		if owner, _, _ := s.names.find(name); owner < 0 {
			wrong = true
		}
		to := pick(s.rng, &a.toolsOn, &a.toolsOff)
		*to = append(*to, name)
	}
	for _, name := range a.toolsOn {
		wrong = wrong || slices.Contains(a.toolsOff, name)
	}
	id := fmt.Sprintf(`"act%d"`, s.next())
	s.acts[id] = true
	s.note("  %s on %q off %q, wrong: %v", id, a.toolsOn, a.toolsOff, wrong)
	s.g.client.says(a.frame(id))
	if !wrong {
		s.names.switchTo(a)
	} else if heard := s.g.client.hears(); len(heard) != 1 || idOf(s.t, heard[0]) != id || reportOf(s.t, heard[0]).Success {
		s.t.Errorf("a wrong activation: the client was sent %q", heard)
	} else {
		delete(s.acts, id)
	}
}

// list has the client list the tools.
func (s *simulation) list() {
	s.g.client.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, 1000+s.next()))
	var tools []string
	for _, name := range s.names.active() {
		tools = append(tools, fmt.Sprintf(`{"name":%q}`, name))
	}
	want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[`, 1000+s.serial) + strings.Join(append([]string{string(session.Simulate(s.g.s).OwnTools(s.g.view(), view.Variant{Mode: view.ModeMutate}))}, tools...), ",") + `]}}`
	s.client(want)
}

// change has a server have other tools.
func (s *simulation) change() {
	i := s.rng.IntN(len(s.g.servers))
	if !s.names.dead[i] {
		s.names.change(s.rng, i)
		s.note("  %d: %q", i, s.names.has[i])
		s.g.servers[i].lists(mcpwire.Tool, s.names.has[i]...)
		s.g.r.update()
	}
}

const askFrame = `{"jsonrpc":"2.0","id":%s,"method":"roots/list","params":{"n":%d%s}}`

// ask has a server ask the client something.
func (s *simulation) ask() {
	i := s.rng.IntN(len(s.g.servers))
	if s.names.dead[i] {
		return
	}
	q := &simCall{id: pick(s.rng, "1", `"1"`, "2.0"), server: i, serial: s.next()}
	meta := ""
	if s.rng.IntN(2) == 0 {
		q.token = pick(s.rng, "7", `"u"`)
		meta = `,"_meta":{"progressToken":` + q.token + `}`
	}
	s.note("  %d: %s of %d", q.serial, q.id, i)
	s.g.servers[i].says(fmt.Sprintf(askFrame, q.id, q.serial, meta))
	heard := s.g.client.hears()
	if len(heard) != 1 {
		s.t.Errorf("the client was sent %q", heard)
		return
	}
	q.theirs = idOf(s.t, heard[0])
	if q.token != "" {
		meta = `,"_meta":{"progressToken":` + q.theirs + `}`
	}
	if want := fmt.Sprintf(askFrame, q.theirs, q.serial, meta); heard[0] != want {
		s.t.Errorf("the client was sent %s, want %s", heard[0], want)
	}
	s.asks = append(s.asks, q)
}

// answerAsk has the client answer a server, and tell how it is before and after.
func (s *simulation) answerAsk() {
	q := s.some(s.asks, func(*simCall) bool { return true })
	if q == nil {
		return
	}
	s.note("  %d", q.serial)
	progress := fmt.Sprintf(progressFrame, q.theirs)
	s.g.client.says(progress, result(q.theirs, q.serial), progress, result(q.theirs, q.serial))
	if q.over {
		return
	}
	q.over = true
	want := []string{result(q.id, q.serial)}
	if q.token != "" {
		want = []string{fmt.Sprintf(progressFrame, q.token), want[0]}
	}
	s.g.servers[q.server].wants(want...)
}

// cancelAsk has a server take back what it has asked; of requests under one id the
// newest is meant.
func (s *simulation) cancelAsk() {
	i, id := s.rng.IntN(len(s.g.servers)), pick(s.rng, "1", `"1"`, "2.0")
	if s.names.dead[i] {
		return
	}
	var meant *simCall
	for _, q := range s.asks {
		if q.server == i && q.id == id && !q.over {
			meant = q
		}
	}
	s.note("  %s of %d", id, i)
	s.g.servers[i].says(fmt.Sprintf(cancelFrame, id))
	if meant != nil {
		meant.over = true
		s.client(fmt.Sprintf(cancelFrame, meant.theirs))
	}
}
