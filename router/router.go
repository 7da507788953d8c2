package router

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/router/breakpoint"
	"toolman/router/builtin"
	"toolman/router/cache"
	"toolman/router/client"
	"toolman/router/discovery"
	"toolman/router/input"
	"toolman/router/metatool"
	"toolman/router/session"

	"go.uber.org/zap"

	"toolman/mcpwire"
	"toolman/router/apps"
	"toolman/router/catalog"
	"toolman/router/clientstate"
	"toolman/router/policy"
	"toolman/router/pool"
	"toolman/router/tracing"
	"toolman/router/upstream"
	"toolman/router/view"
	"toolman/spawn"
)

// A Router joins upstream servers to clients.
type Router struct {
	Options
	log        *zap.Logger
	trace      *tracing.Tracer
	clock      *tracing.Clock
	ownNames   []string // names of toolman's own tools
	run        run
	startup    startup
	env        *upstream.Env
	sessionEnv *session.Env
	upstreams  atomic.Pointer[[]*upstream.Upstream] // in the order of the configuration file; the slice is immutable
	rules      atomic.Pointer[catalog.Rules]
	live       atomic.Pointer[Options] // the latest options; Options itself has the first
	catalog    atomic.Pointer[catalog.Catalog]
	sessions   sessions
	viewCache  viewCache
	pool       pool.Pool
	clients    clientstate.Store

	mu             sync.Mutex                                   // held while the catalog is replaced
	checkedDangers *policy.Dangers                              // guarded by mu: the last value that warnUnmatchedLocked has checked
	metas          map[view.MetaTools]map[string]*metatool.Tool // guarded by mu: toolman's own tools by name, for each selection
}

// A run is the loop and the lifetime that the parts of a router share.
type run struct {
	loop   *peer.Loop
	ctx    context.Context // ends when the router closes
	cancel context.CancelFunc
}

// A startup is the state of the servers' start.
type startup struct {
	opened  atomic.Bool   // the first list no longer waits
	waiting atomic.Int32  // number of upstreams that the first list waits for
	done    chan struct{} // closed when opened is set
}

// New makes a router. Start then starts its servers. The caller keeps ownership of the loop.
func New(o Options, loop *peer.Loop, log *zap.Logger) *Router {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Router{Options: o, log: log, trace: tracing.New(o.Trace), clock: tracing.NewClock(),
		run: run{loop: loop, ctx: ctx, cancel: cancel}, startup: startup{done: make(chan struct{})}}
	r.env = &upstream.Env{Log: log.Named("upstream"), Trace: r.trace, Clock: r.clock, Loop: loop, Results: cache.NewStore(), Context: ctx, Version: o.Version, URISeparator: o.URISeparator, Router: adapter{r}, FirstClient: discovery.NewClientHello(), Recall: o.Recall,
		Gate: serverGates(o.Debug, r.trace)}
	r.setOptions(&o)
	var upstreams []*upstream.Upstream
	r.enableTiming(o.Servers)
	for i, s := range o.Servers {
		upstreams = append(upstreams, upstream.New(r.env, s, nameFor(upstreams, s, i), r.upstreamSettled))
	}
	r.upstreams.Store(&upstreams)
	r.metas = map[view.MetaTools]map[string]*metatool.Tool{o.MetaTools: metatool.Tools(o.MetaTools)}
	r.ownNames = metatool.Names(o.MetaTools, r.metas[o.MetaTools])
	r.sessionEnv = &session.Env{Version: o.Version, Context: ctx,
		Builtin: &builtin.Settings{Settle: o.Settle, CatalogBytes: o.CatalogBytes, Mode: o.Mode, AlwaysLoad: o.AlwaysLoad, Shelf: o.Shelf, Host: adapter{r}},
		Signer:  input.NewSigner(o.Replica), Pool: &r.pool, Host: adapter{r},
		Client: client.Env{Log: log.Named("session"), Trace: r.trace, Clock: r.clock, Audit: o.Audit, OwnNames: r.ownNames}}
	if o.Debug != nil {
		r.sessions.gates = &clientGates{debugger: o.Debug, all: map[*session.Session]*breakpoint.Gate{}}
		r.sessionEnv.Gate = r.sessions.gates.of
	}
	r.clients.Idle = o.ClientIdle
	r.catalog.Store(r.buildCatalog(nil))
	return r
}

// setOptions makes o the current options.
func (r *Router) setOptions(o *Options) {
	r.live.Store(o)
	r.rules.Store(&catalog.Rules{Active: o.Active, Dangers: o.Dangers, ReadOnly: o.ReadOnly, Pins: o.Pins, Unpinned: o.Unpinned, Eras: o.Eras})
}

// enableTiming times calls if the trace, the audit log or the call_timeout of a server needs it.
func (r *Router) enableTiming(servers []upstream.Server) {
	if r.trace.On() || r.Audit != nil || slices.ContainsFunc(servers, func(s upstream.Server) bool { return s.CallTimeout > 0 }) {
		r.clock.EnableTiming()
	}
}

// Await makes the first list wait until the server with this name, or every server for "", is ready
// or gone, even after its StartTimeout. It must be called before Start.
func (r *Router) Await(server string) {
	for _, u := range r.all() {
		if server == "" || u.Source.HasName(server) {
			u.Await()
		}
	}
}

// Start starts all servers concurrently, and does not wait for them. The reaper may be nil; the
// caller keeps ownership of it.
func (r *Router) Start(reaper *spawn.Reaper) {
	r.pool.Reaper = reaper
	r.startup.waiting.Store(int32(len(r.all())) + 1)
	for _, u := range r.all() {
		r.startUpstream(u)
	}
	r.upstreamSettled()
}

// HandshakeMinimal begins the handshakes with the servers for a client without capabilities, such
// as toolman check.
func (r *Router) HandshakeMinimal() { r.handshake(mcpwire.Hello{}) }

// HandshakeFull begins the handshakes for a client with all capabilities, because servers offer
// more to such a client.
func (r *Router) HandshakeFull() {
	r.handshake(mcpwire.Hello{Capabilities: client.DeclaredForMany})
}

// HandshakeShared begins the handshakes for many clients. It tries the modern era first, because
// all clients can share a modern server.
func (r *Router) HandshakeShared() {
	r.handshake(mcpwire.Hello{Version: mcpwire.Newest, Capabilities: apps.Declared})
}

// handshake lets the upstreams begin their handshakes for this client. Only the first call has an
// effect.
func (r *Router) handshake(h mcpwire.Hello) {
	r.env.FirstClient.Set(h)
}

// Started returns a channel that is closed when the first list no longer waits: every server is
// ready, gone, or, unless Await was called for it, late.
func (r *Router) Started() <-chan struct{} { return r.startup.done }

// upstreamSettled is called when the first list no longer waits for an upstream. After the last one
// the lists are answered.
func (r *Router) upstreamSettled() {
	if r.startup.waiting.Add(-1) > 0 {
		return
	}
	r.mu.Lock()
	r.rebuildLocked()
	r.startup.opened.Store(true)
	r.hookStartLocked()
	r.mu.Unlock()
	close(r.startup.done)
	r.serveDeferred()
}

// update builds a new catalog and shows it to the sessions, unless the first list still waits.
// Requests that have waited for the change are served then.
func (r *Router) update() {
	r.mu.Lock()
	opened := r.startup.opened.Load()
	if opened {
		r.rebuildLocked()
	}
	r.mu.Unlock()
	if opened {
		r.serveDeferred()
	}
}

// serveDeferred serves the requests that wait for servers that are now ready or gone.
func (r *Router) serveDeferred() {
	for _, s := range r.sessions.list() {
		s.ServeDeferred()
	}
}

// rebuildLocked builds a new catalog and shows it to the sessions.
func (r *Router) rebuildLocked() {
	next := r.buildCatalog(r.all())
	r.logCollisions(next)
	r.logHeldBack(next)
	r.warnUnmatchedLocked(next)
	r.catalog.Store(next)
	r.hookCatalogLocked(next)
	for _, s := range r.sessions.list() {
		s.CatalogChanged(next, r.startup.opened.Load())
	}
}

// Catalog returns the current catalog.
func (r *Router) Catalog() *catalog.Catalog { return r.catalog.Load() }

// Refreshing reports whether changed lists of a server are not read again yet.
func (r *Router) Refreshing() bool {
	return slices.ContainsFunc(r.all(), (*upstream.Upstream).Refreshing)
}

// Close ends all servers concurrently and returns when they are gone. Start must have been called.
func (r *Router) Close() {
	r.Debug.Close()
	r.trace.Event(trace.EventShutdown, "", "", 0)
	for _, s := range r.sessions.list() {
		s.Shutdown()
	}
	r.clients.Close()
	r.run.cancel()
	r.HandshakeMinimal() // ends the wait of upstreams for a client
	r.mu.Lock()          // no upstream is replaced after this
	upstreams := r.all()
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, u := range upstreams {
		wg.Go(u.Stop)
	}
	wg.Wait()
	r.pool.Dismissed.Wait()
	r.env.Busy.Wait(maxStoring)
}

// maxStoring is how long Close waits until what servers offer is stored for the next run. The
// machine may be busy.
const maxStoring = 2 * time.Second
