package upstream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/cache"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/dial"
	"toolman/router/discovery"
	"toolman/router/feed"
	"toolman/router/recall"
)

// A State is the state of an upstream. It changes only from Starting to Cached, Ready or Gone, and
// from Cached or Ready to Gone. PerSession never changes.
type State uint8

// The states of an upstream.
const (
	Starting State = iota
	Ready
	Gone       // it has ended, or could not be started
	PerSession // each session has its own instance; this one never runs
	Cached     // its items are those of an earlier run; another upstream replaces it when that is ready
)

// LoginState is the name of the state of a server that is gone until a person logs in.
const LoginState = "login"

// String returns the state's name.
func (s State) String() string {
	return [...]string{"starting", "ready", "gone", "per session", "cached"}[s]
}

// An Upstream is one configured server and the connection to it, usually to a process that toolman
// starts. It is the peer.Handler of that connection.
type Upstream struct {
	Server
	Name    string // unique; for logs and messages
	Source  *catalog.Source
	env     *Env
	Log     *zap.Logger
	Results *cache.Results         // nil: no results of calls are kept
	latest  atomic.Pointer[Server] // from the latest options, for processes started from now on

	dedicated dedicated
	greeting  greeting
	transport transport
	Calls     *calls.Table

	mu        sync.Mutex
	state     State     // guarded by mu
	closing   bool      // guarded by mu: Stop was called
	problem   string    // guarded by mu: why it is gone; "" if not known
	lifecycle lifecycle // nextTry, supersedes and startup are guarded by mu
	items     items
	declared  atomic.Pointer[mcpwire.InitializeResult] // in the handshake
	Feed      feed.Feed
}

// items are the items of an upstream.
type items struct {
	lists     discovery.Lists
	refresher discovery.Refresher
	keeper    recall.Keeper    // stores them for the next run
	recalled  atomic.Bool      // they are those of an earlier run
	former    []*catalog.Entry // guarded by Upstream.mu: those of an earlier run that the server has no more
}

// dedicated is the state of an upstream that belongs to one session.
type dedicated struct {
	caller   atomic.Pointer[Caller]   // the owner; nil: sessions share the upstream
	many     bool                     // the owner speaks for several programs
	replaces atomic.Pointer[Upstream] // the shared upstream that it stands in for; nil: none
	leased   bool                     // it serves one call at a time and adds no items to the catalog
}

// A greeting is the state of the handshake.
type greeting struct {
	known   <-chan struct{} // closed when client is set
	client  *mcpwire.Hello  // what the server is told of the client
	probing atomic.Bool     // server/discover was sent to find the era, and is not answered
}

// A transport is the connection to the server. Upstream.mu guards the writes of its first four
// fields, which happen before conn.Start, while no other goroutine reads them.
type transport struct {
	conn    dial.Conn
	out     peer.Sender  // takes what is sent to the server
	gate    peer.Handler // what the server sends comes through it; nil: there is none
	control *jsonrpc.Control
	junk    dial.Junk
}

// A lifecycle is the start and the end of an upstream.
type lifecycle struct {
	awaited      bool          // the first list waits until it is ready or gone
	wanted       chan struct{} // closed when a request waits for it
	wantedOnce   sync.Once     // closes wanted
	onSettled    func()
	settled      sync.Once     // calls onSettled
	begun        chan struct{} // closed when its process runs, or never will
	startedAt    time.Time     // when Run was called
	startup      time.Duration // guarded by Upstream.mu: from start to ready
	finished     bool          // guarded by Upstream.mu: it was ready, and ended with exit status 0
	nextTry      time.Time     // guarded by Upstream.mu: when it is replaced; zero: that is not planned
	failures     int           // guarded by Upstream.mu: its ends in a row, with those of its predecessors
	login        string        // guarded by Upstream.mu: the command with which a person logs in, without which it stays gone; "": none
	supersedes   *Upstream     // guarded by Upstream.mu: the upstream that it replaces when it is ready; nil: none
	replacement  *Upstream     // guarded by Upstream.mu: the latest attempt to replace it; nil: none
	shutdownOnce sync.Once
	stopOnce     sync.Once
	stopped      chan struct{} // closed by Stop
	ended        chan struct{} // closed when it is gone and its calls are answered
}

// New makes an upstream that Run then starts. settled is called once, when nothing needs to wait
// for the upstream: it is ready, gone or late.
func New(env *Env, s Server, name string, settled func()) *Upstream {
	u := &Upstream{Server: s, Name: name, env: env,
		Source:    &catalog.Source{Name: name, PolicyName: cmp.Or(s.Name, s.Namespace), Namespace: s.Namespace, URISep: env.URISeparator},
		greeting:  greeting{known: env.FirstClient.Done, client: &env.FirstClient.Hello},
		lifecycle: lifecycle{onSettled: settled, wanted: make(chan struct{}), begun: make(chan struct{}), ended: make(chan struct{}), stopped: make(chan struct{})},
		Log:       env.Log.With(zap.String("upstream", name))}
	u.Calls = calls.NewTable(name, s.CallTimeout, s.MaxCalls, env.Clock, (*callConn)(u))
	u.items.lists = discovery.Lists{Source: u.Source, Rules: env.Router.Rules, Log: u.Log}
	u.items.refresher = discovery.Refresher{Read: u.reread, Ended: u.lifecycle.ended}
	u.declared.Store(&mcpwire.InitializeResult{})
	u.Feed = feed.Feed{Server: (*feedServer)(u), Source: u.Source, Calls: u.Calls, Trace: env.Trace, Clock: env.Clock, Log: u.Log}
	u.items.keeper = recall.Keeper{Memory: s.Memory, Offers: u.offered, Ended: u.lifecycle.ended, Busy: &env.Busy,
		Failed: func(err error) { u.Log.Debug("the catalog cache was not written", zap.NamedError("err", err)) }}
	u.Results = env.Results.Of(name, s.Cache)
	u.latest.Store(&s)
	u.Source.Server = u
	if s.ForSession != nil {
		u.state = PerSession
		close(u.lifecycle.begun) // it never runs
	}
	return u
}

// Of returns the upstream of a catalog source, or nil if s is nil.
func Of(s *catalog.Source) *Upstream {
	if s == nil {
		return nil
	}
	u, _ := s.Server.(*Upstream)
	return u
}

// Configured returns the server as the latest configuration describes it.
func (u *Upstream) Configured() *Server { return u.latest.Load() }

// Reconfigure sets what Configured returns. It does not change the running process.
func (u *Upstream) Reconfigure(s *Server) { u.latest.Store(s) }

// Await makes the first list wait until the upstream is ready or gone. It must be called before
// Run.
func (u *Upstream) Await() { u.lifecycle.awaited = true }

// Ended returns a channel that is closed when the upstream is gone and its calls are answered.
func (u *Upstream) Ended() <-chan struct{} { return u.lifecycle.ended }

// Is reports whether the upstream is in this state.
func (u *Upstream) Is(state State) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state == state
}

// SetProblem sets the reason why the upstream ends, if it has none yet.
func (u *Upstream) SetProblem(why string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.problem == "" {
		u.problem = why
	}
}

// GoneText returns the error text for requests to an upstream that is gone.
func (u *Upstream) GoneText() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.goneTextLocked()
}

// goneTextLocked is GoneText; mu is held.
func (u *Upstream) goneTextLocked() string {
	problem := u.problem
	if problem == "" {
		problem = "it has ended"
	}
	if u.lifecycle.login != "" {
		return "server " + u.Name + strings.TrimPrefix(problem, "it")
	}
	return fmt.Sprintf("server %s is gone (%s), and with it its tools, resources and prompts; %s", u.Name, problem, u.adviceLocked())
}

// Offer returns the entries of the upstream for the catalog. An upstream that is gone keeps its
// entries, so that their names stay reserved.
func (u *Upstream) Offer() catalog.Offer {
	u.mu.Lock()
	defer u.mu.Unlock()
	if shared := u.Shared(); u.state == Starting && shared != nil {
		return catalog.Offer{Source: u.Source, Entries: shared.Offer().Entries, Alive: false} // reserves the names
	}
	entries := u.items.lists.Entries()
	offer := catalog.Offer{Source: u.Source, Entries: slices.Concat(entries[:]...), Alive: u.state == Ready || u.state == Cached, Former: u.items.former}
	switch u.state {
	case Starting:
		offer.Why = "it is still starting"
		offer.Error = fmt.Sprintf("server %s is still starting; try again in a moment, or go on without it", u.Name)
	case Gone:
		offer.Why, offer.Error = u.problem, u.goneTextLocked()
		if u.lifecycle.login != "" {
			offer.Error += "; nothing was carried out"
		}
	}
	return offer
}

// KnownTo reports whether clients with this catalog may know that the server exists.
func (u *Upstream) KnownTo(c *catalog.Catalog) bool { return c.Knows(u.Source, u.Offer().Entries) }

// Refreshing reports whether lists of the server have changed and are not read again yet.
func (u *Upstream) Refreshing() bool { return u.items.refresher.Running() }

// Reevaluate makes new entries of the items that the current rules judge differently.
func (u *Upstream) Reevaluate() { u.items.lists.Reevaluate() }

// Status returns the current status of the upstream.
func (u *Upstream) Status() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	st := Status{Name: u.Name, Namespace: u.Namespace, State: u.state, Problem: u.problem, Result: *u.result(),
		Login: u.lifecycle.login, Took: u.lifecycle.startup, StartTimeout: u.StartTimeout, Patience: u.patience(), Starts: u.env.starts.Of(u.Name), Junk: u.transport.junk.Count(), Entries: u.items.lists.Entries(), Unread: u.items.lists.Unread()}
	if u.state == Gone {
		st.Failures = u.lifecycle.failures
		if !u.lifecycle.nextTry.IsZero() {
			st.Retry = max(time.Second, time.Until(u.lifecycle.nextTry))
		}
	}
	if u.transport.conn != nil {
		st.Stderr = u.transport.conn.LastWords()
	}
	return st
}

// patience is how long the first list waits for the upstream at most.
func (u *Upstream) patience() time.Duration {
	if u.lifecycle.awaited {
		limit, _ := u.startLimit()
		return limit
	}
	return u.StartTimeout
}

// startLimit returns how long the server may take to start, and what says so.
func (u *Upstream) startLimit() (limit time.Duration, why string) {
	if u.StartLimit > 0 {
		return u.StartLimit, "; set its start_timeout to give it more time"
	}
	return startTimeoutFactor * u.StartTimeout, fmt.Sprintf(", %d times its start_timeout", startTimeoutFactor)
}

// DedicatedOptions describe an upstream for one session.
type DedicatedOptions struct {
	Owner   Caller
	Many    bool           // the owner speaks for several programs
	Client  *mcpwire.Hello // what the server is told of the client in the handshake
	Era     mcpwire.Era    // era of the handshake; Unknown: as configured
	Leased  bool           // it serves one call at a time and adds no items to the catalog
	Settled func()         // as for New
}

// NewDedicated makes an upstream for one session that stands in for the shared upstream u. The
// caller must call Run.
func (u *Upstream) NewDedicated(server Server, d DedicatedOptions) *Upstream {
	if d.Era != mcpwire.Unknown {
		server.Era = d.Era
	}
	server.Memory = nil // it is told of another client
	own := New(u.env, server, u.Name, d.Settled)
	own.Source.Modern, own.lifecycle.awaited = u.Source.Modern, u.lifecycle.awaited
	own.SetShared(u)
	own.dedicated.leased = d.Leased
	own.SetOwner(d.Owner, d.Many)
	known := make(chan struct{})
	close(known)
	own.greeting = greeting{known: known, client: d.Client}
	if d.Leased {
		own.Release = nil // u calls it
		own.Calls.Hold()
	}
	return own
}

// Shared returns the shared upstream that this one stands in for, or nil if this one is shared
// itself.
func (u *Upstream) Shared() *Upstream { return u.dedicated.replaces.Load() }

// SetShared sets what Shared returns, after the shared upstream has been replaced.
func (u *Upstream) SetShared(shared *Upstream) { u.dedicated.replaces.Store(shared) }

// DeclaredCapabilities returns the client capabilities that toolman declared to the server.
func (u *Upstream) DeclaredCapabilities() json.RawMessage { return u.greeting.client.Capabilities }

// SetOwner makes the upstream belong to one caller. many says that the caller speaks for several
// programs.
func (u *Upstream) SetOwner(owner Caller, many bool) {
	u.dedicated.many = many
	u.dedicated.caller.Store(&owner)
}

// Owner returns the caller that the upstream belongs to, or nil if sessions share it.
func (u *Upstream) Owner() Caller {
	if owner := u.dedicated.caller.Load(); owner != nil {
		return *owner
	}
	return nil
}

// callers returns the owner, or all callers that share the upstream.
func (u *Upstream) callers() []Caller {
	if owner := u.Owner(); owner != nil {
		return []Caller{owner}
	}
	return u.env.Router.Sharing(u)
}
