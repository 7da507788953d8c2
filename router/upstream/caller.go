package upstream

import (
	"context"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/cache"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/dial"
	"toolman/router/discovery"
	"toolman/router/recall"
	"toolman/router/tracing"
	"toolman/spawn"
)

// A Caller makes calls to upstreams and receives their responses. A session implements it.
type Caller interface {
	calls.Caller
	// Answer takes the response to a call, whose ID at the upstream was id.
	Answer(u *Upstream, id uint64, c calls.Call, m *jsonrpc.Message, out *peer.Outgoing)
	// TaskProgress passes on progress of a task. id was the ID of the call that started it.
	TaskProgress(u *Upstream, id uint64, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing)
	// Notify passes on any other notification.
	Notify(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing)
	// Request passes on a request of the upstream. n is its correlation number in the trace.
	Request(u *Upstream, m *jsonrpc.Message, n uint64, out *peer.Outgoing)
	// Cancel cancels a request of the upstream.
	Cancel(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing)
	// Withdraw cancels all requests of an upstream that is gone.
	Withdraw(u *Upstream, out *peer.Outgoing)
	// Ready is called when an upstream is ready, before queued calls are sent.
	Ready(u *Upstream)
	// Refresh shows the client what a dedicated upstream offers now.
	Refresh()
	// ReplaceServer puts next in the place of a dedicated upstream that is gone. It returns false
	// if gone is no longer in use.
	ReplaceServer(gone, next *Upstream) bool
}

// An Env is what the upstreams of a router share.
type Env struct {
	Log          *zap.Logger
	Trace        *tracing.Tracer
	Clock        *tracing.Clock
	Loop         *peer.Loop
	Results      *cache.Store    // of calls
	Context      context.Context // ends when the router closes
	Version      string          // of toolman
	URISeparator string          // between namespace and URI
	FirstClient  *discovery.ClientHello
	starts       dial.Counter // connections made, by the name of the server
	Router       Router
	Gate         func(*Upstream) peer.Handler // makes what stands before an upstream; nil: nothing does
	Recall       bool                         // items of earlier runs are offered until servers are ready
	Busy         recall.Busy                  // with storing items for the next run
}

// A Router is what upstreams need of the router.
type Router interface {
	// Rules returns the current rules for catalog entries.
	Rules() *catalog.Rules
	// Servers returns the number of servers.
	Servers() int
	// Sharing returns the callers that share an upstream.
	Sharing(u *Upstream) []Caller
	// Changed is called when the items of a shared upstream have changed.
	Changed()
	// Replace puts next in the place of gone. It returns false if gone is no longer in use.
	Replace(gone, next *Upstream) bool
	// Ladder returns how long a server may take to end now.
	Ladder() spawn.Ladder
}

// info returns toolman's Implementation object.
func (e *Env) info() []byte {
	return append(jsonrpc.AppendQuoted([]byte(`{"name":"toolman","version":`), e.Version), '}')
}
