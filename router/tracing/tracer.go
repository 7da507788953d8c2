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

// The legs of a message: between client and toolman, and between toolman and an upstream server.
const (
	Client   = trace.Client
	Upstream = trace.Upstream
)

// A Tracer writes frames and events to the trace. The methods of a nil Tracer do nothing, so that
// without a trace each frame costs only a comparison.
type Tracer struct {
	w     *trace.Writer
	calls atomic.Uint64
}

// New returns a Tracer that writes to w. It is nil if w is nil.
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

// A Note is information for the trace that is not in the frame.
type Note struct {
	ID      uint64 // correlation number of the call
	Method  mcpwire.Method
	Name    string
	Verdict string
	Rule    string // that led to the verdict
	Status  string
	Rewrote []string
	Leg     time.Duration // how long the upstream took
	Total   time.Duration // how long the client waited
	During  []byte        // ID of the client's open request that the frame belongs to; nil: none

	answer  *jsonrpc.Message // that Judge has seen
	outcome string           // of answer
	code    int              // of answer
}

// Judge finds the outcome of a response once for all frames with copies of the note.
func (n *Note) Judge(m *jsonrpc.Message) {
	n.answer = m
	n.outcome, n.code = Outcome(m)
}

func (n *Note) outcomeOf(m *jsonrpc.Message) (status string, code int) {
	if n.answer == m {
		return n.outcome, n.code
	}
	return Outcome(m)
}

// Request traces an incoming request. name is the span of the item's name, if it has one.
func (t *Tracer) Request(leg trace.Leg, peer string, m *jsonrpc.Message, n uint64, method mcpwire.Method, name jsonrpc.Span) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Request, Method: string(method), Name: string(m.Text(name)),
		ID: token(m), Call: n, Msg: m.Frame, Scanned: true})
}

// Notification traces an incoming notification. n is the correlation number of its call; 0: none.
func (t *Tracer) Notification(leg trace.Leg, peer string, m *jsonrpc.Message, n uint64) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Notification,
		Method: string(m.Text(m.Method)), Call: n, Msg: m.Frame, Scanned: true})
}

// Response traces an incoming response.
func (t *Tracer) Response(leg trace.Leg, peer string, m *jsonrpc.Message, note Note) {
	if t == nil {
		return
	}
	f := trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Response, ID: token(m), Msg: m.Frame, Scanned: true}
	note.fill(&f)
	if f.Status == "" {
		f.Status, f.Code = note.outcomeOf(m)
	}
	t.w.Frame(&f)
}

// Orphan traces a response without a matching request.
func (t *Tracer) Orphan(leg trace.Leg, peer string, m *jsonrpc.Message) {
	t.Response(leg, peer, m, Note{Status: trace.StatusOrphan})
}

// Sent traces an outgoing frame.
func (t *Tracer) Sent(leg trace.Leg, peer string, frame []byte, note Note) {
	if t == nil {
		return
	}
	var m jsonrpc.Message
	f := trace.Frame{Leg: leg, Peer: peer, Dir: trace.Out, Kind: trace.Invalid, Msg: frame}
	if jsonrpc.Scan(frame, &m) == nil {
		f.Kind, f.ID, f.Scanned = kinds[m.Kind], token(&m), true
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

// Passed traces a message that is passed on with the edits of out. It does not scan the new frame
// as Sent does, unless the edits could change what Sent finds in it.
func (t *Tracer) Passed(leg trace.Leg, peer string, m *jsonrpc.Message, out *peer.Outgoing, note *Note) {
	if t == nil {
		return
	}
	note.Rewrote = rewrote(out.Edits(), m)
	frame := out.Spliced(m.Frame)
	f := trace.Frame{Leg: leg, Peer: peer, Dir: trace.Out, Kind: kinds[m.Kind], ID: token(m), Msg: frame, Scanned: true}
	for _, e := range out.Edits() {
		switch {
		case e.Span == m.ID && m.ID.Present():
			f.ID = e.New
		case m.Kind == jsonrpc.Response || e.Span.Lo < m.Params.Lo || e.Span.Hi > m.Params.Hi:
			t.Sent(leg, peer, frame, *note)
			return
		}
	}
	if m.Kind == jsonrpc.Response {
		f.Status, f.Code = note.outcomeOf(m)
	}
	note.fill(&f)
	if f.Method == "" {
		f.Method = string(m.Text(m.Method))
	}
	t.w.Frame(&f)
}

// Bad traces a frame that is not a valid message.
func (t *Tracer) Bad(leg trace.Leg, peer string, frame []byte, err error) {
	if t == nil {
		return
	}
	t.w.Frame(&trace.Frame{Leg: leg, Peer: peer, Dir: trace.In, Kind: trace.Invalid, Rule: err.Error(), Msg: frame})
}

// Event traces an event. n is the correlation number of its call; 0: none.
func (t *Tracer) Event(event, peer, text string, n uint64) {
	if t == nil {
		return
	}
	t.w.Event(trace.Event{Event: event, Peer: peer, Text: text, Call: n})
}

// Stderr traces a line of a server's standard error. Package spawn marks a long line that it has
// cut with "…".
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

// fill copies the note to a frame.
func (n *Note) fill(f *trace.Frame) {
	f.Call, f.Method, f.Name, f.Rewrote = n.ID, string(n.Method), n.Name, n.Rewrote
	f.Verdict, f.Rule = n.Verdict, n.Rule
	if n.Status != "" {
		f.Status = n.Status
	}
	f.LegTime, f.TotalTime = n.Leg, n.Total
	if n.Total > 0 {
		f.OwnTime = n.Total - n.Leg
	}
}

// token returns a message's ID, or nil.
func token(m *jsonrpc.Message) []byte {
	if !m.ID.Present() {
		return nil
	}
	return m.Bytes(m.ID)
}

// kinds maps jsonrpc kinds to those of the trace.
var kinds = [...]trace.Kind{trace.Invalid, trace.Request, trace.Notification, trace.Response}

// Outcome returns the status of a response, and the code of a JSON-RPC error.
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

// onlyID is the result of rewrote for most responses.
var onlyID = []string{"id"}

// rewrote returns the paths in m that edits change. The result is not to be changed.
func rewrote(edits []jsonrpc.Edit, m *jsonrpc.Message) []string {
	if len(edits) == 1 && edits[0].Span == m.ID {
		return onlyID
	}
	if len(edits) == 0 {
		return nil
	}
	paths := make([]string, 0, len(edits))
	for _, e := range edits {
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

// A Clock is a monotonic clock that counts nanoseconds since it was made. It also records whether
// calls are timed: for some calls, reading the time costs more than all other work of the router.
type Clock struct {
	start time.Time
	timed atomic.Bool
}

// NewClock returns a clock that starts at 0.
func NewClock() *Clock { return &Clock{start: time.Now()} }

// Now returns the nanoseconds since the clock was made.
func (c *Clock) Now() int64 { return int64(time.Since(c.start)) }

// At returns the time at which Now returned n.
func (c *Clock) At(n int64) time.Time { return c.start.Add(time.Duration(n)) }

// EnableTiming makes Timed return true.
func (c *Clock) EnableTiming() { c.timed.Store(true) }

// Timed reports whether calls are timed: there is a trace, an audit log, or a call_timeout.
func (c *Clock) Timed() bool { return c.timed.Load() }
