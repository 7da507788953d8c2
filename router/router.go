package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"toolman/jsonrpc/peer"
	"toolman/router/metatool"

	"go.uber.org/zap"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/limiter"
	"toolman/router/policy"
	"toolman/router/tracing"
	"toolman/router/view"
	"toolman/spawn"
)

// A Router joins upstream servers to a client.
type Router struct {
	Options
	log       *zap.Logger
	trace     *tracing.Tracer
	clock     *tracing.Clock
	signer    *signer
	ownNames  []string // names that are toolman's own
	run       run
	startup   startup
	greeted   greeted
	upstreams atomic.Pointer[[]*Upstream] // in the order of the file; the slice does not change
	given     atomic.Pointer[Options]
	catalog   atomic.Pointer[catalog.Catalog]
	sessions  sessions
	starts    tally // connections to servers, by name
	viewCache viewCache
	quota     processQuota

	mu     sync.Mutex                                   // held while the catalog is replaced
	warned *policy.Dangers                              // guarded by mu: what was looked through for entries that no tool has
	metas  map[view.MetaTools]map[string]*metatool.Tool // guarded by mu: toolman's own tools for toolsets, by name
}

// A run is what the goroutines and processes of a router share.
type run struct {
	loop      *peer.Loop
	ctx       context.Context // ends when the router closes
	cancel    context.CancelFunc
	guard     *spawn.Guard   // nil: none
	dismissed sync.WaitGroup // servers that are being ended, and those that are kept up
}

// A startup tells when the servers have started.
type startup struct {
	opened  atomic.Bool   // the first list need not wait any more
	waiting atomic.Int32  // upstreams that the first list waits for
	done    chan struct{} // closed when opened is set
}

// greeted is what the first client can do, which servers that sessions share are told.
type greeted struct {
	once   sync.Once
	done   chan struct{} // closed when it is known
	client mcpwire.Hello // written before done is closed
}

// New makes a router. No server runs before Start. The loop stays the caller's.
func New(o Options, loop *peer.Loop, log *zap.Logger) *Router {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Router{Options: o, log: log, trace: tracing.New(o.Trace), clock: tracing.NewClock(), signer: newSigner(),
		run: run{loop: loop, ctx: ctx, cancel: cancel}, greeted: greeted{done: make(chan struct{})}, startup: startup{done: make(chan struct{})}}
	r.given.Store(&o)
	var upstreams []*Upstream
	r.time(o.Servers)
	for i, s := range o.Servers {
		upstreams = append(upstreams, r.newUpstream(s, nameFor(upstreams, s, i), r.upstreamSettled))
	}
	r.upstreams.Store(&upstreams)
	r.metas = map[view.MetaTools]map[string]*metatool.Tool{o.MetaTools: metatool.Tools(o.MetaTools)}
	r.ownNames = metatool.Names(o.MetaTools, r.metas[o.MetaTools])
	r.catalog.Store(r.buildCatalog(nil))
	return r
}

// newUpstream makes an upstream that is not started yet. settled is called once, when
// nobody need wait for it any more.
func (r *Router) newUpstream(s Server, name string, settled func()) *Upstream {
	u := &Upstream{Server: s, Name: name, r: r,
		source:   &catalog.Source{Name: name, PolicyName: cmp.Or(s.Name, s.Namespace), Namespace: s.Namespace, URISep: r.URISeparator},
		greeting: greeting{known: r.greeted.done, client: &r.greeted.client},
		pending:  pendingCalls{limiter: limiter.New[queuedCall](s.MaxCalls)},
		life:     life{onSettled: settled, begun: make(chan struct{}), ended: make(chan struct{})},
		log:      r.log.Named("upstream").With(zap.String("upstream", name))}
	u.latest.Store(&s)
	u.source.Server = u
	if s.For != nil {
		u.state = Apart
		close(u.life.begun) // it never will
	}
	return u
}

// all returns the upstreams, in the order of the file. The caller does not change it.
func (r *Router) all() []*Upstream { return *r.upstreams.Load() }

// time has calls timed if the trace or a server wants that.
func (r *Router) time(servers []Server) {
	if r.trace.On() || r.Audit != nil || slices.ContainsFunc(servers, func(s Server) bool { return s.CallTimeout > 0 }) {
		r.clock.Time()
	}
}

// nameFor returns a name for a server that no other has.
func nameFor(others []*Upstream, s Server, i int) string {
	name := cmp.Or(s.Name, s.Namespace)
	if name == "" {
		name = fmt.Sprintf("server %d", i+1)
	}
	for _, u := range others {
		if u.Name == name {
			return fmt.Sprintf("%s (server %d)", name, i+1)
		}
	}
	return name
}

// Await has the first list wait for the server that goes by this name, or with "" for every
// one, until it is ready or gone: longer than its StartTimeout. It comes before Start.
func (r *Router) Await(server string) {
	for _, u := range r.all() {
		u.life.awaited = server == "" || u.source.HasName(server)
	}
}

// Start starts all servers, at once and without waiting for them. The guard, which
// may be nil, stays the caller's.
func (r *Router) Start(guard *spawn.Guard) {
	r.run.guard = guard
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
func (r *Router) GreetAble() { r.greet(mcpwire.Hello{Capabilities: declaredForModern}) }

// GreetShared begins them for many clients, who share the servers. Those of the modern
// era are asked for that first: they can be shared by all.
func (r *Router) GreetShared() { r.greet(mcpwire.Hello{Version: mcpwire.Newest}) }

// greet lets the handshakes begin.
func (r *Router) greet(h mcpwire.Hello) {
	r.greeted.once.Do(func() {
		r.greeted.client = h
		close(r.greeted.done)
	})
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
		s.release()
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
		s.catalogChanged(next, r.startup.opened.Load())
	}
}

// catalogChanged shows the client a new catalog; what it has switched stays. The
// first catalog is not announced: nothing was listed before it.
func (s *Session) catalogChanged(next *catalog.Catalog, announce bool) {
	var out peer.Outgoing
	s.mu.Lock()
	s.startDedicatedLocked()
	before := s.view.Load()
	after := before.Rebase(s.startLocked(next))
	s.view.Store(after)
	if announce && s.servers.awaited == 0 {
		s.announceLocked(before, after, &out)
	}
	s.mu.Unlock()
	out.Flush()
}

// NewSession makes a session for a client. out takes what is sent to it; it may
// implement Streams.
func (r *Router) NewSession(out peer.Sender, who Client) *Session {
	s := &Session{r: r, closed: closed{done: make(chan struct{})}}
	s.conn = conn{who: who, log: r.log.Named("session"), front: front{out: out}, trace: r.trace, clock: r.clock, audit: r.Audit, ownNames: r.ownNames}
	s.front.streams, _ = out.(Streams)
	s.front.observer, _ = out.(CallObserver)
	s.front.checker, _ = out.(CallChecker)
	s.input.suspensions.who = who.Account
	r.mu.Lock()
	defer r.mu.Unlock()
	s.policy = r.policyFor(who)
	s.servers.all = r.all()
	s.builtin.offers = r.MetaTools
	if who.MetaTools != nil {
		s.builtin.offers = s.builtin.offers.And(*who.MetaTools)
	}
	s.builtin.tools = r.metaLocked(s.builtin.offers)
	s.view.Store(r.startView(r.catalog.Load(), s.policy, who))
	s.label = r.sessions.add(s, r.Run)
	if who.Sole {
		for _, u := range r.all() {
			u.private.owner.Store(s)
		}
	}
	return s
}

// Upstreams returns what is known of every upstream, in the order of the file.
func (r *Router) Upstreams() []Status {
	var all []Status
	for _, u := range r.all() {
		all = append(all, u.Status())
	}
	return all
}

// Catalog returns what is offered now.
func (r *Router) Catalog() *catalog.Catalog { return r.catalog.Load() }

// upstreamOf returns the upstream that a source is of; nil for nil.
func upstreamOf(s *catalog.Source) *Upstream {
	if s == nil {
		return nil
	}
	u, _ := s.Server.(*Upstream)
	return u
}
