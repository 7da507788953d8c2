package breakpoint

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/tracing"
)

// A Side is the far end that the messages of a Gate come from. Its methods may be called from any
// goroutine, and do not block.
type Side interface {
	// Place says where its messages are in the trace.
	Place() Place
	// Asked returns the request that a response with this ID answers, as far as it is known.
	Asked(id []byte) Request
	// Answer sends frame to the far end, which is the debugger's answer to its request m.
	Answer(m *jsonrpc.Message, frame []byte, out *peer.Outgoing)
	// Drop says that m goes no further.
	Drop(m *jsonrpc.Message, out *peer.Outgoing)
	// Disconnect begins to end the connection to the far end.
	Disconnect(why string)
}

// A Place is where the messages of a Side are in the trace.
type Place struct {
	From string // FromClient or FromServer
	Leg  trace.Leg
	Dir  trace.Dir
	Peer string
}

// A Request is what filters can know of the request that a response answers.
type Request struct {
	Method string
	Names  []string // of the item that it is about: what the client and the server call it
}

// A Gate is a peer.Handler that stands before another. All messages that it gets come from one far
// end.
type Gate struct {
	d     *Debugger
	side  Side
	inner peer.Handler

	mu     sync.Mutex // held while inner handles a message
	closed bool       // guarded by mu: inner gets no more messages
}

// Gate returns a handler for the messages of a side, which go on to inner.
func (d *Debugger) Gate(side Side, inner peer.Handler) *Gate {
	return &Gate{d: d, side: side, inner: inner}
}

// Message implements peer.Handler.
func (g *Gate) Message(m *jsonrpc.Message, out *peer.Outgoing) {
	if g.d.busy.Load() && g.stops(m, out) {
		return
	}
	g.pass(m, out)
}

// Bad implements peer.Handler. If inner accepts the frame as a batch, it gives its messages to the
// Gate.
func (g *Gate) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) { g.inner.Bad(m, err, out) }

// Closed implements peer.Handler. A client that has closed only its own side still reads: what it
// has sent goes on.
func (g *Gate) Closed(err error) {
	if g.side.Place().From == FromClient && errors.Is(err, io.EOF) {
		for _, h := range g.d.takeAll(func(h *held) bool { return h.gate == g }, trace.DonePassed, "the client has closed its side") {
			h.pass()
		}
	}
	g.Close()
	g.inner.Closed(err)
}

// Close drops what is held: the far end is gone.
func (g *Gate) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	var out peer.Outgoing
	for _, h := range g.d.takeAll(func(h *held) bool { return h.gate == g }, trace.DoneDropped, "its connection has ended") {
		g.side.Drop(h.Message, &out)
	}
	out.Flush()
}

// pass gives a message to inner. It returns false if that gets no more messages.
func (g *Gate) pass(m *jsonrpc.Message, out *peer.Outgoing) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inner.Message(m, out)
	}
	return !g.closed
}

// stops reports whether a message goes no further now.
func (g *Gate) stops(m *jsonrpc.Message, out *peer.Outgoing) bool {
	if g.cancels(m, out) {
		return true
	}
	rules := *g.d.rules.Load()
	if len(rules) == 0 {
		return false
	}
	seen := g.see(m)
	for _, r := range rules {
		if r.chooses(seen) && g.d.take(r) {
			return g.act(r, seen, out)
		}
	}
	return false
}

// cancels drops the held request that a notification cancels, and reports whether there is one. The
// next side does not know the request, so the notification ends here, too.
func (g *Gate) cancels(m *jsonrpc.Message, out *peer.Outgoing) bool {
	if m.Kind != jsonrpc.Notification || string(m.Text(m.Method)) != string(mcpwire.Cancelled) {
		return false
	}
	at, err := mcpwire.IDParam(m, "requestId")
	if err != nil || !at.Present() {
		return false
	}
	id := m.Bytes(at)
	for _, h := range g.d.takeAll(func(h *held) bool {
		return h.gate == g && h.Kind == jsonrpc.Request && bytes.Equal(h.Bytes(h.ID), id)
	}, trace.DoneCancelled, "its sender has cancelled it") {
		g.side.Drop(h.Message, out)
		g.side.Drop(m, out)
		return true
	}
	return false
}

// act does what a rule says to a message. It returns false if the message goes on as it is.
func (g *Gate) act(r *rule, m *message, out *peer.Outgoing) bool {
	switch r.Action {
	case Hold, Delay:
		return g.d.hold(r, m)
	case Error:
		frame := r.errorFrame(m.id())
		g.d.fault(r, m, trace.DoneAnswered, "answered with an error")
		if m.Kind == jsonrpc.Request {
			g.side.Answer(m.Message, frame, out)
			return true
		}
		var answer jsonrpc.Message
		if jsonrpc.Scan(frame, &answer) == nil {
			g.pass(&answer, out)
		}
	case Drop:
		g.d.fault(r, m, trace.DoneDropped, "dropped")
		g.side.Drop(m.Message, out)
	case Disconnect:
		g.d.fault(r, m, trace.DoneDisconnected, "dropped, and its connection ended")
		g.side.Drop(m.Message, out)
		g.side.Disconnect("toolman's debugger has ended the connection (rule " + r.words + ")")
	}
	return true
}

// A message is a message as rules see it.
type message struct {
	*jsonrpc.Message
	gate   *Gate
	from   string // FromClient or FromServer
	kind   trace.Kind
	record trace.Record
	names  []string // besides that of record
}

// see reads what rules look at. A response is about the item of its request.
func (g *Gate) see(m *jsonrpc.Message) *message {
	seen := &message{Message: m, gate: g, kind: kinds[m.Kind]}
	r := &seen.record
	place := g.side.Place()
	seen.from = place.From
	*r = trace.Record{Type: trace.TypeFrame, Leg: place.Leg, Peer: place.Peer, Dir: place.Dir, Kind: seen.kind, ID: seen.id(),
		Bytes: len(m.Frame), Msg: m.Frame}
	if m.Kind == jsonrpc.Response {
		asked := g.side.Asked(seen.id())
		r.Method, seen.names = asked.Method, asked.Names
		r.Status, r.Code = tracing.Outcome(m)
		return seen
	}
	r.Method = string(m.Text(m.Method))
	if at, _, err := mcpwire.Target(m, mcpwire.Method(r.Method)); err == nil && at.Present() {
		r.Name = string(m.Text(at))
	}
	return seen
}

// kinds maps jsonrpc kinds to those of the trace.
var kinds = [...]trace.Kind{trace.Invalid, trace.Request, trace.Notification, trace.Response}

func (m *message) id() []byte {
	if !m.ID.Present() {
		return nil
	}
	return m.Bytes(m.ID)
}
