package router

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

const (
	clientLeg   = trace.Client
	upstreamLeg = trace.Upstream
)

// tracer writes what passes to the trace. A nil tracer does nothing, so that a
// session without a trace pays a comparison a frame.
type tracer struct {
	w     *trace.Writer
	calls atomic.Uint64
}

// A note is what the trace should say of a frame beside what stands in it.
type note struct {
	n       uint64 // correlation number of the call
	method  mcpwire.Method
	name    string
	verdict string
	status  string
	rewrote []string
	leg     time.Duration // the upstream took
	total   time.Duration // the client waited

	during []byte // id of the open request of the client during which the frame is sent
}

func newTracer(w *trace.Writer) *tracer {
	if w == nil {
		return nil
	}
	return &tracer{w: w}
}

func (t *tracer) on() bool { return t != nil }

// next returns a new correlation number.
func (t *tracer) next() uint64 {
	if t == nil {
		return 0
	}
	return t.calls.Add(1)
}

// request traces a request that came in. name is where the frame has the name of
// what it is about, if it does.
func (t *tracer) request(leg trace.Leg, peer string, m *jsonrpc.Message, n uint64, method mcpwire.Method, name jsonrpc.Span) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Request, Method: string(method), Name: string(m.Text(name)),
		ID: token(m), Call: n, Msg: m.Frame})
}

// notification traces a notification that came in; n is the correlation number of
// the call that it is about, if that is known.
func (t *tracer) notification(leg trace.Leg, peer string, m *jsonrpc.Message, n uint64) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Notification,
		Method: string(m.Text(m.Method)), Call: n, Msg: m.Frame})
}

// response traces a response that came in.
func (t *tracer) response(leg trace.Leg, peer string, m *jsonrpc.Message, note note) {
	if t == nil {
		return
	}
	f := trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Response, ID: token(m), Msg: m.Frame}
	note.fill(&f)
	if f.Status == "" {
		f.Status, f.Code = outcome(m)
	}
	t.w.Frame(&f)
}

// orphan traces a response that nobody waits for.
func (t *tracer) orphan(leg trace.Leg, peer string, m *jsonrpc.Message) {
	t.response(leg, peer, m, note{status: trace.StatusOrphan})
}

// sent traces a frame that goes out.
func (t *tracer) sent(leg trace.Leg, peer string, frame []byte, note note) {
	if t == nil {
		return
	}
	var m jsonrpc.Message
	f := trace.Frame{Leg: leg, Peer: peer, Dir: trace.Out, Kind: trace.Invalid, Msg: frame}
	if jsonrpc.Scan(frame, &m) == nil {
		f.Kind, f.ID = kinds[m.Kind], token(&m)
	}
	if m.Kind == jsonrpc.Response {
		f.Status, f.Code = outcome(&m)
	}
	note.fill(&f)
	if f.Method == "" {
		f.Method = string(m.Text(m.Method))
	}
	t.w.Frame(&f)
}

// token returns a message's id, or nil.
func token(m *jsonrpc.Message) []byte {
	if !m.ID.Present() {
		return nil
	}
	return m.Bytes(m.ID)
}

var kinds = [...]trace.Kind{trace.Invalid, trace.Request, trace.Notification, trace.Response}

func (n *note) fill(f *trace.Frame) {
	f.Call, f.Method, f.Name, f.Verdict, f.Rewrote = n.n, string(n.method), n.name, n.verdict, n.rewrote
	if n.status != "" {
		f.Status = n.status
	}
	f.LegTime, f.TotalTime = n.leg, n.total
	if n.total > 0 {
		f.OwnTime = n.total - n.leg
	}
}

// outcome reads how a response went.
func outcome(m *jsonrpc.Message) (status string, code int) {
	if m.Err.Present() {
		var e struct{ Code int }
		if at, err := m.Get(m.Err, "code"); err == nil && at.Present() {
			json.Unmarshal(m.Bytes(at), &e.Code) // a code of another type stays 0
		}
		return trace.StatusRPCError, e.Code
	}
	if at, err := m.Get(m.Result, "isError"); err == nil && string(m.Bytes(at)) == "true" {
		return trace.StatusToolError, 0
	}
	return trace.StatusOK, 0
}

// bad traces a frame that is no message.
func (t *tracer) bad(leg trace.Leg, peer string, frame []byte, err error) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Invalid, Rule: err.Error(), Msg: frame})
}

func (t *tracer) event(event, peer, text string, n uint64) {
	if t == nil {
		return
	}
	t.w.Event(trace.Event{Event: event, Peer: peer, Text: text, Call: n})
}

// stderr traces a line of a server's standard error, which package spawn cuts when
// it is long.
func (t *tracer) stderr(peer, line string) {
	if t == nil {
		return
	}
	text, cut := strings.CutSuffix(line, "…")
	t.w.Event(trace.Event{Event: trace.EventStderr, Peer: peer, Text: text, Cut: cut})
}

func (t *tracer) activated(before, after *View, n uint64) {
	if t == nil {
		return
	}
	h := held{before: before, after: after}
	t.event(trace.EventActivate, "", confirmation(h.changes()), n)
}

func (t *tracer) settled(listed bool, n uint64) {
	text := "the client has listed again"
	if !listed {
		text = "the client has not listed again"
	}
	t.event(trace.EventSettle, "", text, n)
}

// send queues a frame of toolman's own for the client.
func (s *Session) send(b *jsonrpc.Batch, frame []byte, note note) {
	s.r.trace.sent(clientLeg, s.name(), frame, note)
	if err := b.Send(s.to(note.during), frame); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.answerUnsent(b, frame, err)
	} // else it fails only when the client is gone
}

// answerUnsent answers a request whose answer of toolman's own could not be written.
func (s *Session) answerUnsent(b *jsonrpc.Batch, frame []byte, err error) {
	s.log.Error("a message could not be sent to the client", zap.String("session", s.name()), zap.NamedError("err", err))
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil && m.Kind == jsonrpc.Response {
		id := bytes.Clone(m.Bytes(m.ID))
		b.Send(s.out, jsonrpc.AppendError(nil, id, jsonrpc.CodeInternalError, "toolman's answer could not be sent: "+err.Error(), nil)) // fails only when the client is gone
	}
}

// to is where a frame goes that belongs to the request with this id, if to any.
func (s *Session) to(during []byte) jsonrpc.Sender {
	if s.streams != nil && during != nil {
		if stream := s.streams.During(during); stream != nil {
			return stream
		}
	}
	return s.out
}

// send writes a message to the upstream, with the batch's edits.
func (u *Upstream) send(b *jsonrpc.Batch, m *jsonrpc.Message, note *note) error {
	if u.r.trace.on() {
		note.rewrote = rewrote(b, m)
		u.r.trace.sent(upstreamLeg, u.Name, b.Preview(m.Frame), *note)
	}
	return b.Pass(u.out, m)
}

// pass writes an upstream's message to the client, with the batch's edits.
func (s *Session) pass(b *jsonrpc.Batch, m *jsonrpc.Message, note *note) error {
	if s.r.trace.on() {
		note.rewrote = rewrote(b, m)
		s.r.trace.sent(clientLeg, s.name(), b.Preview(m.Frame), *note)
	}
	return b.Pass(s.to(note.during), m)
}

// rewrote names the places that the batch's edits change.
func rewrote(b *jsonrpc.Batch, m *jsonrpc.Message) []string {
	var paths []string
	for _, e := range b.Edits() {
		path := "id"
		if e.Span != m.ID {
			path = m.Path(e.Span)
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
