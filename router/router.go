package router

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/metatool"
	"toolman/router/session"

	"go.uber.org/zap"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/pool"
	"toolman/router/tracing"
	"toolman/router/upstream"
	"toolman/router/view"
	"toolman/spawn"
)

// A Router joins upstream servers to a client.
type Router struct {
	Options
	log        *zap.Logger
	trace      *tracing.Tracer
	clock      *tracing.Clock
	ownNames   []string // names that are toolman's own
	run        run
	startup    startup
	env        *upstream.Env
	sessionEnv *session.Env
	upstreams  atomic.Pointer[[]*upstream.Upstream] // in the order of the file; the slice does not change
	rules      atomic.Pointer[catalog.Rules]
	given      atomic.Pointer[Options]
	catalog    atomic.Pointer[catalog.Catalog]
	sessions   sessions
	viewCache  viewCache
	pool       pool.Pool

	mu     sync.Mutex                                   // held while the catalog is replaced
	warned *policy.Dangers                              // guarded by mu: what was looked through for entries that no tool has
	metas  map[view.MetaTools]map[string]*metatool.Tool // guarded by mu: toolman's own tools for toolsets, by name
}

// A run is what the goroutines and processes of a router share.
type run struct {
	loop   *peer.Loop
	ctx    context.Context // ends when the router closes
	cancel context.CancelFunc
}

// A startup tells when the servers have started.
type startup struct {
	opened  atomic.Bool   // the first list need not wait any more
	waiting atomic.Int32  // upstreams that the first list waits for
	done    chan struct{} // closed when opened is set
}

// New makes a router. No server runs before Start. The loop stays the caller's.
func New(o Options, loop *peer.Loop, log *zap.Logger) *Router {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Router{Options: o, log: log, trace: tracing.New(o.Trace), clock: tracing.NewClock(),
		run: run{loop: loop, ctx: ctx, cancel: cancel}, startup: startup{done: make(chan struct{})}}
	r.env = &upstream.Env{Log: log.Named("upstream"), Trace: r.trace, Clock: r.clock, Loop: loop, Context: ctx, Version: o.Version, URISeparator: o.URISeparator, Host: host{r}, Greeted: upstream.NewFirstClient()}
	r.adopt(&o)
	var upstreams []*upstream.Upstream
	r.time(o.Servers)
	for i, s := range o.Servers {
		upstreams = append(upstreams, upstream.New(r.env, s, nameFor(upstreams, s, i), r.upstreamSettled))
	}
	r.upstreams.Store(&upstreams)
	r.metas = map[view.MetaTools]map[string]*metatool.Tool{o.MetaTools: metatool.Tools(o.MetaTools)}
	r.ownNames = metatool.Names(o.MetaTools, r.metas[o.MetaTools])
	r.sessionEnv = &session.Env{Version: o.Version, Settle: o.Settle, CatalogBytes: o.CatalogBytes, Mode: o.Mode, AlwaysLoad: o.AlwaysLoad, Shelf: o.Shelf,
		Context: ctx, Signer: input.NewSigner(), Pool: &r.pool, Host: host{r},
		Client: client.Env{Log: log.Named("session"), Trace: r.trace, Clock: r.clock, Audit: o.Audit, OwnNames: r.ownNames}}
	r.catalog.Store(r.buildCatalog(nil))
	return r
}

// adopt has options count from now on.
func (r *Router) adopt(o *Options) {
	r.given.Store(o)
	r.rules.Store(&catalog.Rules{Active: o.Active, Dangers: o.Dangers, Pins: o.Pins, Unpinned: o.Unpinned, Eras: o.Eras})
}

// time has calls timed if the trace or a server wants that.
func (r *Router) time(servers []upstream.Server) {
	if r.trace.On() || r.Audit != nil || slices.ContainsFunc(servers, func(s upstream.Server) bool { return s.CallTimeout > 0 }) {
		r.clock.Time()
	}
}

// Await has the first list wait for the server that goes by this name, or with "" for every
// one, until it is ready or gone: longer than its StartTimeout. It comes before Start.
func (r *Router) Await(server string) {
	for _, u := range r.all() {
		if server == "" || u.Source.HasName(server) {
			u.Await()
		}
	}
}

// Start starts all servers, at once and without waiting for them. The guard, which
// may be nil, stays the caller's.
func (r *Router) Start(reaper *spawn.Reaper) {
	r.pool.Reaper = reaper
	r.startup.waiting.Store(int32(len(r.all())) + 1)
	for _, u := range r.all() {
		r.begin(u)
	}
	r.upstreamSettled()
}

// Greet begins the handshakes with the servers for a client that cannot do
// anything, as `toolman check` is one.
func (r *Router) Greet() { r.greet(mcpwire.Hello{}) }

// GreetAble begins them for a client that can do everything: servers offer more to
// one.
func (r *Router) GreetAble() { r.greet(mcpwire.Hello{Capabilities: client.DeclaredForModern}) }

// GreetShared begins them for many clients, who share the servers. Those of the modern
// era are asked for that first: they can be shared by all.
func (r *Router) GreetShared() { r.greet(mcpwire.Hello{Version: mcpwire.Newest}) }

// greet lets the handshakes begin.
func (r *Router) greet(h mcpwire.Hello) {
	r.env.Greeted.Greet(h)
}

// Started is closed when every server is ready, gone, or, unless it is awaited, late.
func (r *Router) Started() <-chan struct{} { return r.startup.done }

// upstreamSettled counts down the upstreams that the first list waits for, and
// with the last of them lets the lists be answered.
func (r *Router) upstreamSettled() {
	if r.startup.waiting.Add(-1) > 0 {
		return
	}
	r.mu.Lock()
	r.rebuildLocked()
	r.startup.opened.Store(true)
	r.mu.Unlock()
	close(r.startup.done)
	for _, s := range r.sessions.list() {
		s.ServeDeferred()
	}
}

// update builds the catalog anew and shows it to the client, unless the first list
// still waits.
func (r *Router) update() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.startup.opened.Load() {
		r.rebuildLocked()
	}
}

func (r *Router) rebuildLocked() {
	next := r.buildCatalog(r.all())
	r.logCollisions(next)
	r.logHeld(next)
	r.warnIdleLocked(next)
	r.catalog.Store(next)
	for _, s := range r.sessions.list() {
		s.CatalogChanged(next, r.startup.opened.Load())
	}
}

// Catalog returns what is offered now.
func (r *Router) Catalog() *catalog.Catalog { return r.catalog.Load() }

// Refreshing reports whether lists of a server have changed and are not yet read
// again.
func (r *Router) Refreshing() bool {
	return slices.ContainsFunc(r.all(), (*upstream.Upstream).Refreshing)
}

// Close ends all servers, in parallel, and returns when they are gone. It comes
// after Start.
func (r *Router) Close() {
	r.trace.Event(trace.EventShutdown, "", "", 0)
	for _, s := range r.sessions.list() {
		s.Shutdown()
	}
	r.run.cancel()
	r.Greet()   // whoever still waits for a client, waits in vain
	r.mu.Lock() // nobody takes a place from here on
	upstreams := r.all()
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, u := range upstreams {
		wg.Go(u.Stop)
	}
	wg.Wait()
	r.pool.Dismissed.Wait()
}
