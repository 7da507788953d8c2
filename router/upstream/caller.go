package upstream

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/spawn"
)

// A Caller makes calls to upstreams and hears what comes of them. It is a session, as its upstreams
// know it. Calls come by value: a call whose address is taken here would be made on the heap.
type Caller interface {
	// Principal is in whose share of an upstream's limit the calls count.
	Principal() budget.Principal
	// Answer takes the upstream's answer to a call, which had this id there.
	Answer(u *Upstream, id uint64, c Call, m *jsonrpc.Message, out *peer.Outgoing)
	// Unsent answers a call that was not written to its upstream.
	Unsent(c Call, problem string, how audit.Outcome, out *peer.Outgoing)
	// Lost answers a call that its upstream does not answer.
	Lost(c Call, problem string, how audit.Outcome, out *peer.Outgoing)
	// Progress passes on progress of a call, whose token is at this place of the message. It
	// reports whether the client wants to hear of it.
	Progress(c Call, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) bool
	// TaskProgress passes on progress of a call that has become a task; it had this id.
	TaskProgress(u *Upstream, id uint64, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing)
	// Logged passes on a log message of a shared upstream, whose only open call this is.
	Logged(c Call, m *jsonrpc.Message, out *peer.Outgoing)
	// Notify passes on any other notification.
	Notify(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing)
	// Request passes on a request of the upstream, which has this correlation number.
	Request(u *Upstream, m *jsonrpc.Message, n uint64, out *peer.Outgoing)
	// Cancel takes back a request of the upstream.
	Cancel(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing)
	// Withdraw takes back all requests of an upstream that is gone.
	Withdraw(u *Upstream, out *peer.Outgoing)
	// Ready is called when an upstream is ready, before calls that wait for it are written.
	Ready(u *Upstream)
	// Refresh shows the client what an upstream of its own offers now.
	Refresh()
	// Reconnect has an upstream of the caller's own that is gone replaced.
	Reconnect(u *Upstream)
}

// An Env is what the upstreams of a router share.
type Env struct {
	Log          *zap.Logger
	Trace        *tracing.Tracer
	Clock        *tracing.Clock
	Loop         *peer.Loop
	Context      context.Context // ends when the router closes
	Version      string          // of toolman
	URISeparator string          // between namespace and URI
	FirstClient  *ClientHello
	starts       counter // connections to servers, by name
	Router       Router
}

// A Router has upstreams.
type Router interface {
	// Rules are what the configuration says about entries now.
	Rules() *catalog.Rules
	// Servers is how many there are.
	Servers() int
	// Sharing returns the callers that share an upstream.
	Sharing(u *Upstream) []Caller
	// Changed is called when the items of a shared upstream have changed.
	Changed()
	// Replace puts an upstream in the place of one that is gone; false: that has none any more.
	Replace(gone, next *Upstream) bool
	// Ladder is how long a server has that is to end now.
	Ladder() spawn.Ladder
}

// ClientHello is what the first client can do, which servers that sessions share are told.
type ClientHello struct {
	once  sync.Once
	Done  chan struct{} // closed when it is known
	Hello mcpwire.Hello // written before done is closed
}

func NewClientHello() *ClientHello { return &ClientHello{Done: make(chan struct{})} }

// Set lets the handshakes begin.
func (g *ClientHello) Set(h mcpwire.Hello) {
	g.once.Do(func() {
		g.Hello = h
		close(g.Done)
	})
}

// pipeSize is how large a server's pipes are made. Large ones halve the cost of
// large messages, but Linux allows a user 64 MiB of them, and makes all later
// pipes tiny.
func (e *Env) pipeSize() int {
	if e.Router.Servers() <= 8 {
		return 1 << 20
	}
	return 128 << 10
}

// claim is what toolman says of itself in its own requests to modern servers.
func (e *Env) claim() *mcpwire.Claim { return mcpwire.NewClaim(nil, e.info(), "") }

// info is toolman's Implementation object.
func (e *Env) info() []byte {
	return append(jsonrpc.AppendQuoted([]byte(`{"name":"toolman","version":`), e.Version), '}')
}

// A counter counts something by name. The zero value is ready to use.
type counter struct {
	mu sync.Mutex
	n  map[string]int // guarded by mu
}

func (t *counter) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[string]int{}
	}
	t.n[name]++
}

func (t *counter) of(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n[name]
}
