package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/apps"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/record"
	"toolman/router/tracing"
	"toolman/router/upstream"
	"toolman/router/view"
)

// An Env is what all clients of a router share.
type Env struct {
	Log      *zap.Logger
	Trace    *tracing.Tracer
	Clock    *tracing.Clock
	Audit    *audit.Writer // nil: no audit log
	OwnNames []string      // names of toolman's own tools
}

// A Conn is the connection to one client.
type Conn struct {
	Env
	Caller upstream.Caller // the session
	Info   Info
	Label  string // name of the session in the audit log
	Policy *policy.Policy
	Front  front
	View   atomic.Pointer[view.View]
	// Tracker notes what changes in the session's record; nil without Info.Recorded.
	Tracker *record.Tracker

	Mu   sync.Mutex  // held while one message of the client is handled
	Peer clientState // guarded by Mu, except its name
	// retained is how many bytes of Info.Account the session uses, or allFreed. Guarded by Mu.
	retained int
}

// A front is the transport of the client.
type front struct {
	Out      peer.Sender
	Batches  atomic.Pointer[peer.BatchResponder] // writes to Out, from the first batch of requests on
	Streams  Streams                             // nil: everything is sent to Out
	Observer CallObserver                        // may be nil
	Checker  CallChecker                         // may be nil
}

// A clientState is what is known of the client from its messages.
type clientState struct {
	name      atomic.Pointer[string] // sanitized, for the log and the trace
	Hello     *mcpwire.Hello         // from initialize; nil before
	Revision  string                 // the negotiated revision
	Meta      *mcpwire.Claim         // sent to modern servers
	Ready     bool                   // toolman may send it requests and notifications
	Modern    bool                   // it has sent a request of the modern era
	ListsOnce bool                   // it did not list its tools again after a change
	Declared  json.RawMessage        // what legacy servers are told of its capabilities if it is Modern
}

// Init sets the fields of a Conn. out takes what is sent to the client; it may implement Streams,
// CallObserver and CallChecker.
func (s *Conn) Init(out peer.Sender, info Info, env Env) {
	s.Env, s.Info, s.Front.Out = env, info, out
	if info.Recorded {
		s.Tracker = &record.Tracker{}
	}
	s.Front.Streams, _ = out.(Streams)
	s.Front.Observer, _ = out.(CallObserver)
	s.Front.Checker, _ = out.(CallChecker)
}

// Name returns the client's name for the log and the trace. Conn.Mu need not be held.
func (s *Conn) Name() string {
	if name := s.Peer.name.Load(); name != nil {
		return *name
	}
	return cmp.Or(s.Info.Name, "client")
}

// LogConnected sets Name from the client's own name, cut to a length limit, and logs the client.
func (s *Conn) LogConnected(hello *mcpwire.Hello, revision string) {
	name := sanitize.Line(sanitize.First(hello.Name, catalog.NameLimit))
	if name != "" {
		s.Peer.name.Store(&name)
	}
	s.Log.Info("client connected", zap.String("session", name+" "+sanitize.Line(sanitize.First(hello.NameVersion, catalog.NameLimit))), zap.String("revision", revision))
}

// InSession reports whether the client has sent initialize. Without it the client gets only the
// notifications that it asks for. Conn.Mu must not be held.
func (s *Conn) InSession() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Peer.Hello != nil
}

// EraOf returns Modern or Legacy.
func EraOf(modern bool) mcpwire.Era {
	if modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// DeclaredForModern are the capabilities that toolman declares to legacy servers for a modern
// client, besides the extensions of its first request. A modern client declares capabilities in
// each request, but the handshake comes first.
var DeclaredForModern = json.RawMessage(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)

// DeclaredForMany are the capabilities that toolman declares to legacy servers where it does not
// know its clients.
var DeclaredForMany = apps.WithExtensions(DeclaredForModern, apps.Declared)

// MayUse reports whether the client's policy allows any item of an upstream.
func (s *Conn) MayUse(u *upstream.Upstream) bool { return s.Policy.Opens(u.Source.PolicyName) }

// Knows reports whether the client may know that the upstream exists.
func (s *Conn) Knows(u *upstream.Upstream) bool { return u.KnownTo(s.View.Load().Catalog) }

// TraceArrival traces a request of the client, unless that was done when it was deferred, and
// returns its correlation number. name is the span of the name of the item.
func (s *Conn) TraceArrival(req *Request, name jsonrpc.Span) uint64 {
	if req.TraceID == 0 {
		req.TraceID = s.Trace.Next()
		s.Trace.Request(tracing.Client, s.Name(), req.Message, req.TraceID, req.Method, name)
	}
	return req.TraceID
}

// Send sends a frame of toolman's own to the client.
func (s *Conn) Send(out *peer.Outgoing, frame []byte, note tracing.Note) {
	s.Trace.Sent(tracing.Client, s.Name(), frame, note)
	if err := out.Send(s.to(note.During), frame); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.answerUnsent(out, frame, err)
	} // else it fails only when the client is gone
}

// to returns the Sender for a frame. during is the ID of the client's request that the frame
// belongs to; nil: none.
func (s *Conn) to(during []byte) peer.Sender {
	if s.Front.Streams != nil && during != nil {
		if stream := s.Front.Streams.During(during); stream != nil {
			return stream
		}
	}
	if batches := s.Front.Batches.Load(); batches != nil {
		return batches
	}
	return s.Front.Out
}

// answerUnsent replaces a response of toolman's own that could not be written by an error.
func (s *Conn) answerUnsent(out *peer.Outgoing, frame []byte, err error) {
	s.Log.Error("cannot write a message to the client", zap.String("session", s.Name()), zap.NamedError("err", err))
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil && m.Kind == jsonrpc.Response {
		id := bytes.Clone(m.Bytes(m.ID))
		out.Send(s.to(nil), jsonrpc.AppendError(nil, id, jsonrpc.CodeInternalError, "toolman's answer could not be sent: "+err.Error(), nil)) // fails only when the client is gone
	}
}

// Pass writes an upstream's message to the client, with the edits of out.
func (s *Conn) Pass(out *peer.Outgoing, m *jsonrpc.Message, note *tracing.Note) error {
	if s.Trace.On() {
		s.Trace.Passed(tracing.Client, s.Name(), m, out, note)
	}
	return out.Pass(s.to(note.During), m)
}

// Announce sends a notification without parameters.
func (s *Conn) Announce(out *peer.Outgoing, method mcpwire.Method) {
	s.Send(out, jsonrpc.AppendNotification(nil, string(method), nil), tracing.Note{Method: method})
}

// allFreed is the value of Conn.retained after FreeAll.
const allFreed = math.MinInt

// Retain takes n bytes from the client's budget. The error is a *budget.LimitError.
func (s *Conn) Retain(n int) error {
	if s.retained == allFreed {
		return nil
	}
	if err := s.Info.Account.Take(budget.Bytes, int64(n)); err != nil {
		return err
	}
	s.retained += n
	return nil
}

// Free gives n bytes back to the client's budget.
func (s *Conn) Free(n int) {
	if s.retained != allFreed {
		s.retained -= n
		s.Info.Account.Give(budget.Bytes, int64(n))
	}
}

// FreeAll gives all bytes back at the end of the session.
func (s *Conn) FreeAll() {
	s.Free(s.retained)
	s.retained = allFreed
}

// MaxWaitingBytes is the limit on the total size of waiting messages in each direction. A single
// message may exceed it.
const MaxWaitingBytes = 64 << 20

// OverBytes reports whether one more message of size bytes would exceed MaxWaitingBytes.
func OverBytes[T interface{ Size() int }](waiting []T, size int) bool {
	return len(waiting) > 0 && TotalSize(waiting)+size > MaxWaitingBytes
}

// TotalSize returns the sum of the sizes in bytes.
func TotalSize[T interface{ Size() int }](waiting []T) (size int) {
	for _, w := range waiting {
		size += w.Size()
	}
	return size
}

// WithLock calls f with Mu held, and then sends what f has queued in out.
func (s *Conn) WithLock(f func(out *peer.Outgoing)) {
	var out peer.Outgoing
	s.Mu.Lock()
	f(&out)
	s.Mu.Unlock()
	out.Flush()
}
