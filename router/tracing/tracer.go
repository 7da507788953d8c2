package tracing

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

// The legs of a frame's way: between the client and toolman, and between toolman and an upstream server.
const (
	Client   = trace.Client
	Upstream = trace.Upstream
)

// Tracer writes what passes to the trace. A nil tracer does nothing, so that a
// session without a trace pays a comparison a frame.
type Tracer struct {
	w     *trace.Writer
	calls atomic.Uint64
}

// A Note is what the trace should say of a frame beside what stands in it.
type Note struct {
	ID      uint64 // correlation number of the call
	Method  mcpwire.Method
	Name    string
	Verdict string
	Status  string
	Rewrote []string
	Leg     time.Duration // the upstream took
	Total   time.Duration // the client waited

	During []byte // id of the open request of the client during which the frame is sent
}

// New returns a tracer that writes to w; nil for no writer.
func New(w *trace.Writer) *Tracer {
	if w == nil {
		return nil
	}
	return &Tracer{w: w}
}

// On reports whether there is a trace.
func (t *Tracer) On() bool { return t != nil }

// Next returns a new correlation number, from 1; 0 without a trace.
func (t *Tracer) Next() uint64 {
	if t == nil {
		return 0
	}
	return t.calls.Add(1)
}

// Request traces a request that came in. name is where the frame has the name of
// what it is about, if it does.
func (t *Tracer) Request(leg trace.Leg, peer string, m *jsonrpc.Message, n uint64, method mcpwire.Method, name jsonrpc.Span) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Request, Method: string(method), Name: string(m.Text(name)),
		ID: token(m), Call: n, Msg: m.Frame})
}

// Notification traces a notification that came in; n is the correlation number of
// the call that it is about, if that is known.
func (t *Tracer) Notification(leg trace.Leg, peer string, m *jsonrpc.Message, n uint64) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Notification,
		Method: string(m.Text(m.Method)), Call: n, Msg: m.Frame})
}

// Response traces a response that came in.
func (t *Tracer) Response(leg trace.Leg, peer string, m *jsonrpc.Message, note Note) {
	if t == nil {
		return
	}
	f := trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Response, ID: token(m), Msg: m.Frame}
	note.fill(&f)
	if f.Status == "" {
		f.Status, f.Code = Outcome(m)
	}
	t.w.Frame(&f)
}

// Orphan traces a response that nobody waits for.
func (t *Tracer) Orphan(leg trace.Leg, peer string, m *jsonrpc.Message) {
	t.Response(leg, peer, m, Note{Status: trace.StatusOrphan})
}

// Sent traces a frame that goes out.
func (t *Tracer) Sent(leg trace.Leg, peer string, frame []byte, note Note) {
	if t == nil {
		return
	}
	var m jsonrpc.Message
	f := trace.Frame{Leg: leg, Peer: peer, Dir: trace.Out, Kind: trace.Invalid, Msg: frame}
	if jsonrpc.Scan(frame, &m) == nil {
		f.Kind, f.ID = kinds[m.Kind], token(&m)
	}
	if m.Kind == jsonrpc.Response {
		f.Status, f.Code = Outcome(&m)
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

func (n *Note) fill(f *trace.Frame) {
	f.Call, f.Method, f.Name, f.Verdict, f.Rewrote = n.ID, string(n.Method), n.Name, n.Verdict, n.Rewrote
	if n.Status != "" {
		f.Status = n.Status
	}
	f.LegTime, f.TotalTime = n.Leg, n.Total
	if n.Total > 0 {
		f.OwnTime = n.Total - n.Leg
	}
}

// Outcome reads how a response went.
func Outcome(m *jsonrpc.Message) (status string, code int) {
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

// Bad traces a frame that is no message.
func (t *Tracer) Bad(leg trace.Leg, peer string, frame []byte, err error) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Invalid, Rule: err.Error(), Msg: frame})
}

// Event traces an event that is no frame. n is the correlation number of the call that it is about; 0: none.
func (t *Tracer) Event(event, peer, text string, n uint64) {
	if t == nil {
		return
	}
	t.w.Event(trace.Event{Event: event, Peer: peer, Text: text, Call: n})
}

// Stderr traces a line of a server's standard error, which package spawn cuts when
// it is long.
func (t *Tracer) Stderr(peer, line string) {
	if t == nil {
		return
	}
	text, cut := strings.CutSuffix(line, "…")
	t.w.Event(trace.Event{Event: trace.EventStderr, Peer: peer, Text: text, Cut: cut})
}

// ListedAgain traces whether the client has listed its tools again after an activation.
func (t *Tracer) ListedAgain(listed bool, n uint64) {
	text := "the client has listed again"
	if !listed {
		text = "the client has not listed again"
	}
	t.Event(trace.EventSettle, "", text, n)
}

// Rewrote names the places that the edits of out change.
func Rewrote(out *peer.Outgoing, m *jsonrpc.Message) []string {
	var paths []string
	for _, e := range out.Edits() {
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

// A Clock counts nanoseconds since it was made, and does not jump. It also says whether the times of
// calls are of use: reading the time costs more than the rest of what the router does for some calls.
type Clock struct {
	start time.Time
	timed atomic.Bool
}

// NewClock returns a clock that counts from now on.
func NewClock() *Clock { return &Clock{start: time.Now()} }

// Now returns the nanoseconds since the clock was made.
func (c *Clock) Now() int64 { return int64(time.Since(c.start)) }

// At returns the time at which Now returned n.
func (c *Clock) At(n int64) time.Time { return c.start.Add(time.Duration(n)) }

// EnableTiming says that calls are to be timed from now on.
func (c *Clock) EnableTiming() { c.timed.Store(true) }

// Timed reports whether calls are timed: there is a trace, an audit log, or a call_timeout.
func (c *Clock) Timed() bool { return c.timed.Load() }
