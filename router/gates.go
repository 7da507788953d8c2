package router

import (
	"sync"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/breakpoint"
	"toolman/router/session"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// verdictDebug is the verdict in the trace of a request that the debugger has answered.
const verdictDebug = "debug"

// serverGates returns upstream.Env.Gate; nil without a Debugger.
func serverGates(d *breakpoint.Debugger, t *tracing.Tracer) func(*upstream.Upstream) peer.Handler {
	if d == nil {
		return nil
	}
	return func(u *upstream.Upstream) peer.Handler { return d.Gate(serverSide{u, t}, u) }
}

// clientGates are the Gates before sessions. Sessions have no field for theirs: thousands of idle
// ones would be larger.
type clientGates struct {
	debugger *breakpoint.Debugger

	mu  sync.Mutex
	all map[*session.Session]*breakpoint.Gate // guarded by mu: of sessions that have not ended
}

// add makes the Gate of a new session. g may be nil.
func (g *clientGates) add(s *session.Session) {
	if g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.all[s] = g.debugger.Gate(clientSide{s}, s)
	}
}

// of is session.Env.Gate. What comes for a session that has ended passes through a Gate of its own.
func (g *clientGates) of(s *session.Session) *breakpoint.Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate := g.all[s]; gate != nil {
		return gate
	}
	return g.debugger.Gate(clientSide{s}, s)
}

// remove forgets a session that has ended. g may be nil.
func (g *clientGates) remove(s *session.Session) {
	if g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.all, s)
	}
}

// A clientSide is the breakpoint.Side of a session's client.
type clientSide struct{ s *session.Session }

// Place implements breakpoint.Side.
func (c clientSide) Place() breakpoint.Place {
	return breakpoint.Place{From: breakpoint.FromClient, Leg: trace.Client, Dir: trace.In, Peer: c.s.Name()}
}

// Asked implements breakpoint.Side. What the client answers are requests of servers.
func (c clientSide) Asked([]byte) breakpoint.Request { return breakpoint.Request{} }

// Answer implements breakpoint.Side.
func (c clientSide) Answer(m *jsonrpc.Message, frame []byte, out *peer.Outgoing) {
	c.s.Send(out, frame, came(c.s.Trace, trace.Client, c.s.Name(), m, tracing.Note{}))
}

// Drop implements breakpoint.Side. A batch is answered without the request.
func (c clientSide) Drop(m *jsonrpc.Message, _ *peer.Outgoing) {
	came(c.s.Trace, trace.Client, c.s.Name(), m, tracing.Note{})
	if batches := c.s.Front.Batches.Load(); batches != nil && m.Kind == jsonrpc.Request {
		batches.Forget(m.Bytes(m.ID))
	}
}

// Disconnect implements breakpoint.Side.
func (c clientSide) Disconnect(string) {
	switch out := c.s.Front.Out.(type) {
	case *peer.Peer:
		go out.Close()
	case interface{ Disconnect() }:
		out.Disconnect()
	}
}

// A serverSide is the breakpoint.Side of a server.
type serverSide struct {
	u     *upstream.Upstream
	trace *tracing.Tracer
}

// Place implements breakpoint.Side.
func (s serverSide) Place() breakpoint.Place {
	return breakpoint.Place{From: breakpoint.FromServer, Leg: trace.Upstream, Dir: trace.In, Peer: s.u.Name}
}

// Asked implements breakpoint.Side.
func (s serverSide) Asked(id []byte) breakpoint.Request {
	n, _ := jsonrpc.ParseID(id)
	c, _ := s.u.Calls.Get(n)
	r := breakpoint.Request{Method: string(c.Method)}
	if c.Entry != nil {
		r.Names = []string{c.Name(), c.ServerName()}
	}
	return r
}

// Answer implements breakpoint.Side.
func (s serverSide) Answer(m *jsonrpc.Message, frame []byte, out *peer.Outgoing) {
	s.u.SendFrame(out, frame, came(s.trace, trace.Upstream, s.u.Name, m, tracing.Note{})) // fails only when the server is gone
}

// Drop implements breakpoint.Side. The call of a response stays open, as if the response were lost.
func (s serverSide) Drop(m *jsonrpc.Message, _ *peer.Outgoing) {
	n, _ := jsonrpc.ParseID(m.Bytes(m.ID))
	c, _ := s.u.Calls.Get(n)
	came(s.trace, trace.Upstream, s.u.Name, m, tracing.Note{ID: c.TraceID, Method: c.Method})
}

// Disconnect implements breakpoint.Side.
func (s serverSide) Disconnect(why string) { s.u.Disconnect(why) }

// came traces a message that the debugger keeps from the router. of is the note for a response. It
// returns the note for an answer.
func came(t *tracing.Tracer, leg trace.Leg, name string, m *jsonrpc.Message, of tracing.Note) tracing.Note {
	if !t.On() {
		return tracing.Note{}
	}
	switch m.Kind {
	case jsonrpc.Response:
		t.Response(leg, name, m, of)
		return tracing.Note{}
	case jsonrpc.Notification:
		t.Notification(leg, name, m, 0)
		return tracing.Note{}
	}
	note := tracing.Note{ID: t.Next(), Method: mcpwire.Method(m.Text(m.Method)), Verdict: verdictDebug}
	at, _, _ := mcpwire.Target(m, note.Method)
	note.Name = string(m.Text(at))
	t.Request(leg, name, m, note.ID, note.Method, at)
	return note
}
