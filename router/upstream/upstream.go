package upstream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/dial"
	"toolman/router/discovery"
	"toolman/router/limiter"
	"toolman/router/tracing"
)

// A State is where an upstream is in its life. It only moves forward.
type State uint8

// The states.
const (
	Starting State = iota
	Ready
	Gone       // never started, or ended
	PerSession // each session has one of its own
)

// String returns the state's name.
func (s State) String() string { return [...]string{"starting", "ready", "gone", "per session"}[s] }

// An Upstream is one configured server and the connection to it, which most have with a
// process that toolman has started. It is the peer.Handler of that connection.
type Upstream struct {
	Server
	Name   string // unique, for people
	Source *catalog.Source
	env    *Env
	Log    *zap.Logger
	latest atomic.Pointer[Server] // as the options given last have it; what is started from now on is like that

	dedicated dedicated
	greeting  greeting
	pipe      pipe
	pending   pendingCalls

	mu            sync.Mutex
	state         State  // guarded by mu
	closing       bool   // guarded by mu: toolman is ending it
	problem       string // guarded by mu: why it is gone
	life          life   // nextTry, supersedes and startup are guarded by mu
	lists         discovery.Lists
	offered       offered       // guarded by mu
	subscriptions subscriptions // guarded by mu
	logLevels     logLevels     // guarded by mu
}

// dedicated says whose an upstream is that one session has for itself.
type dedicated struct {
	caller   atomic.Pointer[Caller] // whose it is; nil: sessions share it
	many     bool                   // that one speaks for several programs
	replaces *Upstream              // the shared one in whose place the owner has it; nil: none
	leased   bool                   // it is for one call at a time and offers nothing
}

// A greeting is whom the server is to serve, and how it is spoken to.
type greeting struct {
	known   <-chan struct{} // closed when client is known
	client  *mcpwire.Hello
	probing atomic.Bool // it was asked for its era and has not answered
}

// A pipe is the connection to the server. Its first three fields are guarded by Upstream.mu; they are
// written before conn.Start, and while no other goroutine has any of them.
type pipe struct {
	conn       dial.Conn
	out        peer.Sender // what is written to it
	control    *jsonrpc.Control
	junk       int       // guarded by Upstream.mu: lines that were no messages
	junkLogged time.Time // guarded by Upstream.mu
}

// pendingCalls are those that the server has not answered.
type pendingCalls struct {
	calls    jsonrpc.Pending[Call]
	late     jsonrpc.Recent               // ids of calls that were given up
	limiter  *limiter.Limiter[queuedCall] // nil: any number of calls at once
	watching bool                         // guarded by Upstream.mu: a timer for call_timeout runs
}

// A life is when the server was started, is ready, and ends.
type life struct {
	awaited      bool // the first list waits for it until it is ready or gone
	onSettled    func()
	settled      sync.Once     // the first list does not wait for it any more
	begun        chan struct{} // closed when its process runs, or never will
	startedAt    time.Time     // when its process was started
	startup      time.Duration // from start to ready
	nextTry      time.Time     // when the server is tried again, if it comes back
	supersedes   *Upstream     // the one in whose place it comes when it is ready; nil: it has its place
	shutdownOnce sync.Once
	ended        chan struct{} // closed when it is gone and its callers have been told
}

// offered is what the server offers.
type offered struct {
	result     mcpwire.InitializeResult
	stale      [mcpwire.Kinds]bool // kinds whose list has changed
	refreshing bool
}

// New makes an upstream that is not started yet. settled is called once, when nobody need wait
// for it any more.
func New(env *Env, s Server, name string, settled func()) *Upstream {
	u := &Upstream{Server: s, Name: name, env: env,
		Source:   &catalog.Source{Name: name, PolicyName: cmp.Or(s.Name, s.Namespace), Namespace: s.Namespace, URISep: env.URISeparator},
		greeting: greeting{known: env.FirstClient.Done, client: &env.FirstClient.Hello},
		pending:  pendingCalls{limiter: limiter.New[queuedCall](s.MaxCalls)},
		life:     life{onSettled: settled, begun: make(chan struct{}), ended: make(chan struct{})},
		Log:      env.Log.With(zap.String("upstream", name))}
	u.lists = discovery.Lists{Source: u.Source, Rules: env.Router.Rules, Log: u.Log}
	u.latest.Store(&s)
	u.Source.Server = u
	if s.For != nil {
		u.state = PerSession
		close(u.life.begun) // it never will
	}
	return u
}

// Offer returns what the upstream has, or had when it went.
func (u *Upstream) Offer() catalog.Offer {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state == Starting && u.dedicated.replaces != nil {
		return catalog.Offer{Source: u.Source, Entries: u.dedicated.replaces.Offer().Entries, Alive: false} // nobody takes the names meanwhile
	}
	entries := u.lists.Entries()
	return catalog.Offer{Source: u.Source, Entries: slices.Concat(entries[:]...), Alive: u.state == Ready}
}

// settled tells the router that the first list need not wait for this upstream
// any more.
func (u *Upstream) settled() { u.life.settled.Do(u.life.onSettled) }

// GoneText says why nothing can be asked of the upstream any more.
func (u *Upstream) GoneText() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	problem := u.problem
	if problem == "" {
		problem = "it has ended"
	}
	advice := "go on without it, or have toolman restarted"
	if u.Reconnects() {
		advice = "toolman tries to reach it again, now and then; go on without it, or try again later"
	}
	return fmt.Sprintf("server %s is gone (%s), and with it its tools, resources and prompts; %s", u.Name, problem, advice)
}

// sendControl writes a frame of toolman's own conversation.
func (u *Upstream) sendControl(frame []byte) error {
	if u.env.Trace.On() {
		var own tracing.Note
		var m jsonrpc.Message
		if jsonrpc.Scan(frame, &m) == nil {
			id, _ := jsonrpc.ParseID(m.Bytes(m.ID))
			c, _ := u.pending.calls.Get(id)
			own = tracing.Note{ID: c.TraceID, Method: c.Method}
		}
		u.env.Trace.Sent(tracing.Upstream, u.Name, frame, own)
	}
	if err := u.pipe.out.Queue(frame, nil); err != nil {
		return err
	}
	u.pipe.out.Flush()
	return nil
}

// controlIDs numbers toolman's own requests in the same table as the client's calls.
type controlIDs struct{ u *Upstream }

func (o controlIDs) Next(method string) (uint64, bool) {
	env := o.u.env
	return o.u.pending.calls.Add(Call{Method: mcpwire.Method(method), TraceID: env.Trace.Next(), Sent: env.Clock.Now()})
}

func (o controlIDs) Forget(id uint64) {
	o.u.pending.calls.Take(id)
	o.u.pending.late.Add(id)
}

// DetectedEra is the era of an upstream that is ready.
func (u *Upstream) DetectedEra() mcpwire.Era {
	if u.Source.Modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// Is reports whether the upstream is in this state.
func (u *Upstream) Is(state State) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state == state
}

// SetProblem notes why an upstream is ended that nobody has ended yet.
func (u *Upstream) SetProblem(why string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.problem == "" {
		u.problem = why
	}
}

// KnownTo reports whether clients of a catalog may know that there is the server.
func (u *Upstream) KnownTo(c *catalog.Catalog) bool { return c.Knows(u.Source, u.Offer().Entries) }

// Of returns the upstream that a source is of; nil for nil.
func Of(s *catalog.Source) *Upstream {
	if s == nil {
		return nil
	}
	u, _ := s.Server.(*Upstream)
	return u
}

// Configured is the server as the configuration that was given last has it.
func (u *Upstream) Configured() *Server { return u.latest.Load() }

// Reconfigure has what is started from now on be like this.
func (u *Upstream) Reconfigure(s *Server) { u.latest.Store(s) }

// Await has the first list wait for the upstream until it is ready or gone.
func (u *Upstream) Await() { u.life.awaited = true }

// over is closed when the upstream is gone and its callers have been told.
func (u *Upstream) Ended() <-chan struct{} { return u.life.ended }

// Refreshing reports whether lists of the server have changed and are not yet read again.
func (u *Upstream) Refreshing() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.offered.refreshing
}

// Status returns what is known of the upstream now.
func (u *Upstream) Status() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	st := Status{Name: u.Name, Namespace: u.Namespace, State: u.state, Problem: u.problem, Result: u.offered.result,
		Took: u.life.startup, StartTimeout: u.StartTimeout, Patience: u.patience(), Starts: u.env.starts.of(u.Name), Junk: u.pipe.junk, Entries: u.lists.Entries(), Unread: u.lists.Unread()}
	if u.state == Gone && u.Reconnects() {
		st.Retry = max(time.Second, time.Until(u.life.nextTry))
	}
	if u.pipe.conn != nil {
		st.Stderr = u.pipe.conn.LastWords()
	}
	return st
}

// patience is how long the first list waits for the upstream.
func (u *Upstream) patience() time.Duration {
	if u.life.awaited {
		return startTimeoutFactor * u.StartTimeout
	}
	return u.StartTimeout
}

// A DedicatedOptions says whom an upstream is for that sessions do not share.
type DedicatedOptions struct {
	Owner   Caller
	Many    bool           // it speaks for several programs
	Client  *mcpwire.Hello // what the server is told of the client
	Era     mcpwire.Era    // in which the server is spoken to; Unknown: as it is configured
	Leased  bool           // it is for one call at a time and offers nothing
	Settled func()         // is called when it need not be waited for any more
}

// NewDedicated makes an upstream like a shared one, for one caller. It has to be run.
func (u *Upstream) NewDedicated(server Server, d DedicatedOptions) *Upstream {
	own := New(u.env, server, u.Name, d.Settled)
	own.Source.Modern, own.life.awaited = u.Source.Modern, u.life.awaited
	own.dedicated.replaces, own.dedicated.leased = u, d.Leased
	own.SetOwner(d.Owner, d.Many)
	own.greeting = greeting{known: alreadyGreeted, client: d.Client}
	if d.Era != mcpwire.Unknown {
		own.Era = d.Era
	}
	if d.Leased {
		own.Release = nil // that is the shared one's
		own.pending.limiter = limiter.NewClosed[queuedCall]()
	}
	return own
}

var alreadyGreeted = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Shared is the shared upstream in whose place the owner has this one; nil: sessions share it.
func (u *Upstream) Shared() *Upstream { return u.dedicated.replaces }

// Load is how many calls a leased upstream has.
func (u *Upstream) Load() int { return u.pending.limiter.Load() }

// DeclaredCapabilities are the capabilities of the client that the server was told of.
func (u *Upstream) DeclaredCapabilities() json.RawMessage { return u.greeting.client.Capabilities }

// SetOwner makes the upstream a caller's own, which may speak for many programs.
func (u *Upstream) SetOwner(owner Caller, many bool) {
	u.dedicated.many = many
	u.dedicated.caller.Store(&owner)
}

// Owner is whose the upstream is; nil: sessions share it.
func (u *Upstream) Owner() Caller {
	if owner := u.dedicated.caller.Load(); owner != nil {
		return *owner
	}
	return nil
}

// callers returns those whose server this is: its owner, or all that share it.
func (u *Upstream) callers() []Caller {
	if owner := u.Owner(); owner != nil {
		return []Caller{owner}
	}
	return u.env.Router.Sharing(u)
}

// openLease lets calls to a leased upstream, which is ready.
func (u *Upstream) openLease() {
	var out peer.Outgoing
	u.pending.limiter.Open()
	u.admitNext(&out)
	out.Flush()
}

// Reevaluate makes the entries anew that other options see in another way.
func (u *Upstream) Reevaluate() { u.lists.Reevaluate() }
