package upstream

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/spawn"
)

// An Env is what the upstreams of a router share.
type Env struct {
	Log          *zap.Logger
	Trace        *tracing.Tracer
	Clock        *tracing.Clock
	Loop         *peer.Loop
	Context      context.Context // ends when the router closes
	Version      string          // of toolman
	URISeparator string          // between namespace and URI
	Greeted      *FirstClient
	starts       tally // connections to servers, by name
	Host         Host
}

// A Host has upstreams.
type Host interface {
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

// FirstClient is what the first client can do, which servers that sessions share are told.
type FirstClient struct {
	once   sync.Once
	Done   chan struct{} // closed when it is known
	Client mcpwire.Hello // written before done is closed
}

func NewFirstClient() *FirstClient { return &FirstClient{Done: make(chan struct{})} }

// Greet lets the handshakes begin.
func (g *FirstClient) Greet(h mcpwire.Hello) {
	g.once.Do(func() {
		g.Client = h
		close(g.Done)
	})
}

// pipeSize is how large a server's pipes are made. Large ones halve the cost of
// large messages, but Linux allows a user 64 MiB of them, and makes all later
// pipes tiny.
func (e *Env) pipeSize() int {
	if e.Host.Servers() <= 8 {
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

// A tally counts something by name. The zero value is ready to use.
type tally struct {
	mu sync.Mutex
	n  map[string]int // guarded by mu
}

func (t *tally) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[string]int{}
	}
	t.n[name]++
}

func (t *tally) of(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n[name]
}
