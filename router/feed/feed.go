package feed

import (
	"strconv"
	"sync"

	"go.uber.org/zap"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/tracing"
)

// A Feed asks one server for notifications. Its methods may be called concurrently.
type Feed struct {
	Server Server
	Source *catalog.Source // of the server
	Calls  *calls.Table
	Trace  *tracing.Tracer
	Clock  *tracing.Clock
	Log    *zap.Logger

	mu            sync.Mutex
	phase         phase         // guarded by mu
	subscriptions subscriptions // guarded by mu
	levels        levels        // guarded by mu
}

// A Server is a server as its Feed sees it. A Feed holds its lock while it calls the methods.
type Server interface {
	// SendFrame writes a frame of toolman's own to the server.
	SendFrame(out *peer.Outgoing, frame []byte, note tracing.Note) error
	// Result returns the server's result of the handshake.
	Result() *mcpwire.InitializeResult
	// Claim returns the metadata of toolman's own requests to a modern server.
	Claim() *mcpwire.Claim
	// Owned reports whether the server belongs to one session.
	Owned() bool
	// Dedicated reports whether the server stands in for one that sessions share.
	Dedicated() bool
	// ListsChanged is called on another goroutine when lists may have changed without a
	// notification.
	ListsChanged(kinds ...mcpwire.Kind)
}

// A phase is a part of the life of a server.
type phase uint8

const (
	starting phase = iota
	ready
	gone
	recalled // what the server offers is known from an earlier run
)

// Open records that the server is ready.
func (f *Feed) Open() { f.enter(ready) }

// Recall records that what the server offers is known from an earlier run. Another Feed takes the
// place of this one when the server is ready.
func (f *Feed) Recall() { f.enter(recalled) }

// Close records that the server is gone.
func (f *Feed) Close() { f.enter(gone) }

func (f *Feed) enter(p phase) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.phase = p
}

// request sends a request of toolman's own and returns its ID, or 0 if the server is gone. The
// caller does not wait for the response.
func (f *Feed) request(method mcpwire.Method, params []byte, out *peer.Outgoing) (id uint64) {
	n := f.Trace.Next()
	id, ok := f.Calls.Add(calls.Call{Method: method, TraceID: n, SentAt: f.Clock.Now()})
	if !ok {
		return 0
	}
	frame := []byte(`{"jsonrpc":"2.0","id":`)
	frame = strconv.AppendUint(frame, id, 10)
	frame = append(append(append(frame, `,"method":"`...), method...), `","params":`...)
	f.Server.SendFrame(out, append(append(frame, params...), '}'), tracing.Note{ID: n, Method: method})
	return id
}
