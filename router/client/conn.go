package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/catalog"
	"toolman/router/policy"
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

// A Conn is the connection to one client: who the client is, what it has said of itself, and how its
// requests are answered, traced and audited.
type Conn struct {
	Env
	Caller upstream.Caller // the session, as upstreams know it
	Who    Info
	Label  string // what the audit log calls the session
	Policy *policy.Policy
	Front  front
	View   atomic.Pointer[view.View]

	Mu      sync.Mutex  // held while one message of the client is handled
	Peer    clientState // guarded by mu, but for name
	account account     // guarded by mu
}

// Open makes the connection to a client. out takes what is sent to it; it may implement Streams,
// CallObserver and CallChecker.
func (s *Conn) Init(out peer.Sender, who Info, of Env) {
	s.Env, s.Who, s.Front.Out = of, who, out
	s.Front.Streams, _ = out.(Streams)
	s.Front.Observer, _ = out.(CallObserver)
	s.Front.Checker, _ = out.(CallChecker)
}

// A front is where the client's messages come from and where those for it go.
type front struct {
	Out      peer.Sender
	Batches  atomic.Pointer[peer.BatchResponder] // to out, from the first batch of requests on
	Streams  Streams                             // nil: all goes to out
	Observer CallObserver                        // nil: there is none
	Checker  CallChecker                         // nil: there is none
}

// A clientState is what the client has said of itself.
type clientState struct {
	name      atomic.Pointer[string] // for the log and the trace
	Hello     *mcpwire.Hello         // nil until initialize
	Revision  string                 // what was agreed on
	Meta      *mcpwire.Claim         // what modern servers are told of the client
	Ready     bool                   // it takes requests and notifications
	Modern    bool                   // it has sent a modern request
	ListsOnce bool                   // it was seen not to list again
}

// Name is how the client calls itself.
func (s *Conn) Name() string {
	if name := s.Peer.name.Load(); name != nil {
		return *name
	}
	return cmp.Or(s.Who.Name, "client")
}

// LogConnected keeps a name of the client for the log and the trace, and logs that it is there. What it
// calls itself may be long.
func (s *Conn) LogConnected(hello *mcpwire.Hello, revision string) {
	name := sanitize.Line(sanitize.First(hello.Name, catalog.NameLimit))
	if name != "" {
		s.Peer.name.Store(&name)
	}
	s.Log.Info("client connected", zap.String("session", name+" "+sanitize.Line(sanitize.First(hello.NameVersion, catalog.NameLimit))), zap.String("revision", revision))
}

// InSession reports whether the client has initialized: without that it wants no
// notifications but those it asks for.
func (s *Conn) InSession() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Peer.Hello != nil
}

func EraOf(modern bool) mcpwire.Era {
	if modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// An account is what the session keeps of its client's budget.
type account struct {
	retained int  // bytes of Client.Account
	ended    bool // it keeps none any more
}

// Retain takes bytes from the client's account for something that is kept. The error is a
// *budget.LimitError.
func (s *Conn) Retain(n int) error {
	if s.account.ended {
		return nil
	}
	if err := s.Who.Account.Take(budget.Bytes, int64(n)); err != nil {
		return err
	}
	s.account.retained += n
	return nil
}

// Free gives back bytes for what is kept no more.
func (s *Conn) Free(n int) {
	if !s.account.ended {
		s.account.retained -= n
		s.Who.Account.Give(budget.Bytes, int64(n))
	}
}

// FreeAll gives back all bytes: the session has ended.
func (s *Conn) FreeAll() {
	s.Free(s.account.retained)
	s.account.ended = true
}

// MaxWaitingBytes is how many bytes of messages wait on either side. One message may wait whatever its size.
const MaxWaitingBytes = 64 << 20

// OverBytes reports whether what waits already leaves no room for size bytes more.
func OverBytes[T interface{ Size() int }](waiting []T, size int) bool {
	return len(waiting) > 0 && TotalSize(waiting)+size > MaxWaitingBytes
}

func TotalSize[T interface{ Size() int }](waiting []T) (size int) {
	for _, w := range waiting {
		size += w.Size()
	}
	return size
}

// Send queues a frame of toolman's own for the client.
func (s *Conn) Send(out *peer.Outgoing, frame []byte, note tracing.Note) {
	s.Trace.Sent(tracing.Client, s.Name(), frame, note)
	if err := out.Send(s.to(note.During), frame); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.answerUnsent(out, frame, err)
	} // else it fails only when the client is gone
}

// answerUnsent answers a request whose answer of toolman's own could not be written.
func (s *Conn) answerUnsent(out *peer.Outgoing, frame []byte, err error) {
	s.Log.Error("a message could not be sent to the client", zap.String("session", s.Name()), zap.NamedError("err", err))
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil && m.Kind == jsonrpc.Response {
		id := bytes.Clone(m.Bytes(m.ID))
		out.Send(s.to(nil), jsonrpc.AppendError(nil, id, jsonrpc.CodeInternalError, "toolman's answer could not be sent: "+err.Error(), nil)) // fails only when the client is gone
	}
}

// to is where a frame goes that belongs to the request with this id, if to any.
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

// Pass writes an upstream's message to the client, with the edits of out.
func (s *Conn) Pass(out *peer.Outgoing, m *jsonrpc.Message, note *tracing.Note) error {
	if s.Trace.On() {
		note.Rewrote = tracing.Rewrote(out, m)
		s.Trace.Sent(tracing.Client, s.Name(), out.Preview(m.Frame), *note)
	}
	return out.Pass(s.to(note.During), m)
}

func (s *Conn) Announce(out *peer.Outgoing, method mcpwire.Method) {
	s.Send(out, jsonrpc.AppendNotification(nil, string(method), nil), tracing.Note{Method: method})
}

// TraceArrival traces a request of the client and returns its correlation number.
// One that has waited was traced when it came.
func (s *Conn) TraceArrival(req *Request, name jsonrpc.Span) uint64 {
	if req.TraceID == 0 {
		req.TraceID = s.Trace.Next()
		s.Trace.Request(tracing.Client, s.Name(), req.Message, req.TraceID, req.Method, name)
	}
	return req.TraceID
}

// MayUse reports whether the client's policy leaves anything of an upstream open.
func (s *Conn) MayUse(u *upstream.Upstream) bool { return s.Policy.Opens(u.Source.PolicyName) }

// DeclaredForModern is what legacy servers are told that a modern client can do:
// that differs from request to request, and their handshake comes before them.
var DeclaredForModern = json.RawMessage(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)

// Knows reports whether the client may know that there is a server.
func (s *Conn) Knows(u *upstream.Upstream) bool { return u.KnownTo(s.View.Load().Catalog) }
