package router

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
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/dial"
	"toolman/router/limiter"
	"toolman/router/tracing"
	"toolman/spawn"
)

// A State is where an upstream is in its life. It only moves forward.
type State uint8

// The states.
const (
	Starting State = iota
	Ready
	Gone  // never started, or ended
	Apart // each session has one of its own
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
	log    *zap.Logger
	latest atomic.Pointer[Server] // as the options given last have it; what is started from now on is like that

	private  private
	greeting greeting
	pipe     pipe
	pending  pendingCalls

	mu        sync.Mutex
	state     State             // guarded by mu
	closing   bool              // guarded by mu: toolman is ending it
	problem   string            // guarded by mu: why it is gone
	life      life              // nextTry, supersedes and startup are guarded by mu
	offered   offered           // guarded by mu
	following following         // guarded by mu
	logLevels upstreamLogLevels // guarded by mu
}

// private says whose an upstream is that one session has for itself.
type private struct {
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
	late     recent                       // ids of calls that were given up
	limiter  *limiter.Limiter[queuedCall] // nil: any number of calls at once
	watching bool                         // guarded by Upstream.mu: a timer for call_timeout runs
}

// A life is when the server was started, is ready, and ends.
type life struct {
	awaited    bool // the first list waits for it until it is ready or gone
	onSettled  func()
	settled    sync.Once     // the first list does not wait for it any more
	begun      chan struct{} // closed when its process runs, or never will
	startedAt  time.Time     // when its process was started
	startup    time.Duration // from start to ready
	nextTry    time.Time     // when the server is tried again, if it comes back
	supersedes *Upstream     // the one in whose place it comes when it is ready; nil: it has its place
	buried     sync.Once
	ended      chan struct{} // closed when it is gone and its callers have been told
}

// offered is what the server offers.
type offered struct {
	result     mcpwire.InitializeResult
	entries    [mcpwire.Kinds][]*catalog.Entry
	unread     [mcpwire.Kinds]string // why a list is not known as it is now
	stale      [mcpwire.Kinds]bool   // kinds whose list has changed
	refreshing bool
}

// New0 makes an upstream that is not started yet. settled is called once, when nobody need wait
// for it any more.
func New0(env *Env, s Server, name string, settled func()) *Upstream {
	u := &Upstream{Server: s, Name: name, env: env,
		Source:   &catalog.Source{Name: name, PolicyName: cmp.Or(s.Name, s.Namespace), Namespace: s.Namespace, URISep: env.URISeparator},
		greeting: greeting{known: env.Greeted.done, client: &env.Greeted.client},
		pending:  pendingCalls{limiter: limiter.New[queuedCall](s.MaxCalls)},
		life:     life{onSettled: settled, begun: make(chan struct{}), ended: make(chan struct{})},
		log:      env.Log.With(zap.String("upstream", name))}
	u.latest.Store(&s)
	u.Source.Server = u
	if s.For != nil {
		u.state = Apart
		close(u.life.begun) // it never will
	}
	return u
}

// offer returns what the upstream has, or had when it went.
func (u *Upstream) offer() catalog.Offer {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state == Starting && u.private.replaces != nil {
		return catalog.Offer{Source: u.Source, Entries: u.private.replaces.offer().Entries, Alive: false} // nobody takes the names meanwhile
	}
	return catalog.Offer{Source: u.Source, Entries: slices.Concat(u.offered.entries[:]...), Alive: u.state == Ready}
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
	if u.comesBack() {
		advice = "toolman tries to reach it again, now and then; go on without it, or try again later"
	}
	return fmt.Sprintf("server %s is gone (%s), and with it its tools, resources and prompts; %s", u.Name, problem, advice)
}

// start runs the server's command and begins to read it.
func (u *Upstream) start(guard *spawn.Guard) error {
	u.Command.Name = u.Name
	u.Command.Stderr = func(line string) {
		u.log.Info("stderr", zap.String("text", line))
		u.env.Trace.Stderr(u.Name, line)
	}
	u.Command.PipeSize = u.env.pipeSize()
	defer close(u.life.begun)
	return u.launch(guard)
}

// launch starts a process for the upstream and begins to read it.
func (u *Upstream) launch(guard *spawn.Guard) error {
	if u.isClosing() {
		return dial.ErrEnding
	}
	conn, err := u.connect(guard)
	if err != nil {
		return err
	}
	if !u.take(conn) {
		conn.Stop()
		return dial.ErrEnding
	}
	u.env.Trace.Event(trace.EventSpawn, u.Name, conn.String(), 0)
	conn.Start(u, u.life.ended)
	return nil
}

// connect makes a connection to the server, and starts it if it does not run already.
func (u *Upstream) connect(guard *spawn.Guard) (dial.Conn, error) {
	switch {
	case u.Dial != nil:
		return u.Dial(u.Command.Stderr)
	case u.Socket != "":
		return dial.Socket(u.env.Context, u.Socket, u.env.Loop, u.FrameLimit, u.life.ended)
	}
	return dial.Process(u.Command, guard, u.env.Loop, u.FrameLimit, u.env.Host.Ladder)
}

// take makes a connection the upstream's, unless that is to end.
func (u *Upstream) take(conn dial.Conn) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing {
		return false
	}
	u.env.starts.add(u.Name)
	u.pipe.conn, u.pipe.out = conn, conn.Out()
	u.pipe.control = jsonrpc.NewControl(u.sendOwn, ownIDs{u})
	return true
}

func (u *Upstream) isClosing() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.closing
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

// own makes the upstream a caller's own, which may speak for many programs.
func (u *Upstream) own(owner Caller, many bool) {
	u.private.many = many
	u.private.caller.Store(&owner)
}

// owner is whose the upstream is; nil: sessions share it.
func (u *Upstream) owner() Caller {
	if owner := u.private.caller.Load(); owner != nil {
		return *owner
	}
	return nil
}

// callers returns those whose server this is: its owner, or all that share it.
func (u *Upstream) callers() []Caller {
	if owner := u.owner(); owner != nil {
		return []Caller{owner}
	}
	return u.env.Host.Sharing(u)
}

// Closed implements peer.Handler: the server has closed its output. One that does
// so because it was asked for its era gets a second life.
func (u *Upstream) Closed(err error) {
	if u.greeting.probing.CompareAndSwap(true, false) {
		go u.pipe.control.Close()
		return
	}
	go u.bury(err)
}

// bury ends an upstream that is gone: everybody is told, and what is left of its
// processes is ended.
func (u *Upstream) bury(err error) {
	u.life.buried.Do(func() {
		u.tellGone(u.pipe.conn.Cause(err))
		u.pipe.conn.Stop()
	})
}

// tellGone answers the callers of an upstream that is gone and takes its items out
// of the catalog.
func (u *Upstream) tellGone(problem string) {
	u.mu.Lock()
	was, closing := u.state, u.closing
	u.state = Gone
	if u.problem == "" {
		u.problem = problem
	}
	problem, after := u.problem, u.life.supersedes
	u.mu.Unlock()
	news := after.news(problem)
	u.answerAll()
	u.pipe.control.Close()
	close(u.life.ended)
	if !closing && news {
		u.log.Warn("upstream gone", zap.String("err", problem), zap.Stringer("state", was), zap.String("text", u.pipe.conn.LastWords()))
		u.env.Trace.Event(trace.EventGone, u.Name, problem, 0)
	}
	if !closing && after == nil {
		u.update()
		u.renew()
	}
	u.settled()
}

// update has what the upstream offers shown anew.
func (u *Upstream) update() {
	if u.private.leased {
		return
	}
	if owner := u.owner(); owner != nil && u.private.replaces != nil {
		owner.Refresh()
		return
	}
	u.env.Host.Changed()
}

// answerAll answers everybody who waits for the upstream, and takes back what it
// has asked.
func (u *Upstream) answerAll() {
	var out peer.Outgoing
	for _, c := range u.pending.calls.Close() {
		if c.Caller != nil {
			c.Caller.Lost(c, u.GoneText(), audit.Gone, &out)
		}
	}
	for _, c := range u.pending.limiter.Close() {
		c.Caller.Lost(c.Call, u.GoneText(), audit.Gone, &out)
	}
	u.endPendingLogLevels(&out)
	for _, s := range u.callers() {
		s.Withdraw(u, &out)
	}
	out.Flush()
}

// fail gives an upstream up before it is ready.
func (u *Upstream) fail(reason string) {
	u.mu.Lock()
	if u.problem == "" {
		u.problem = reason
	}
	started, closing, after := u.pipe.conn != nil, u.closing, u.life.supersedes
	if !started {
		u.state = Gone
	}
	u.mu.Unlock()
	if started {
		u.pipe.conn.Stop()
		return
	}
	if after.news(reason) {
		if !closing {
			u.log.Warn("upstream not started", zap.String("err", reason))
		}
		u.env.Trace.Event(trace.EventGone, u.Name, reason, 0)
	}
	u.answerAll()
	close(u.life.ended)
	u.settled()
	if !closing {
		u.renew()
	}
}

// stop ends the upstream because toolman ends.
func (u *Upstream) stop() {
	u.mu.Lock()
	u.closing = true
	u.mu.Unlock()
	<-u.life.begun // its process may be about to start
	u.mu.Lock()
	conn := u.pipe.conn
	u.mu.Unlock()
	if conn != nil {
		conn.Stop()
		<-u.life.ended
	}
}

// sendOwn writes a frame of toolman's own conversation.
func (u *Upstream) sendOwn(frame []byte) error {
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

// ownIDs numbers toolman's own requests in the same table as the client's calls.
type ownIDs struct{ u *Upstream }

func (o ownIDs) Next(method string) (uint64, bool) {
	env := o.u.env
	return o.u.pending.calls.Add(Call{Method: mcpwire.Method(method), TraceID: env.Trace.Next(), Sent: env.Clock.Now()})
}

func (o ownIDs) Forget(id uint64) {
	o.u.pending.calls.Take(id)
	o.u.pending.late.add(id)
}

// comesBack reports whether the server is tried again when it is gone. One that is another
// for each session is not: nobody sees whether it could be reached, and the session would wait.
func (u *Upstream) comesBack() bool {
	return (u.Dial != nil || u.Socket != "") && !u.private.leased && u.For == nil && (u.private.replaces == nil || u.private.replaces.For == nil)
}

// renew has the session that an upstream was for get another one of its own: soon, if that
// was there for long.
func (u *Upstream) renew() {
	owner := u.owner()
	if owner == nil || u.private.replaces == nil || !u.comesBack() {
		return
	}
	pause := longestPause
	if time.Since(u.life.startedAt) >= longestPause {
		pause = firstPause
	}
	u.triedIn(pause)
	time.AfterFunc(pause, func() { owner.Reconnect(u) })
}

// triedIn notes when the server is tried again, for those who ask.
func (u *Upstream) triedIn(pause time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.life.nextTry = time.Now().Add(pause)
}

// news reports whether this is another reason to be gone than u has, which may be nil.
func (u *Upstream) news(problem string) bool {
	if u == nil {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.problem != problem
}

// isCandidate reports whether the upstream has no place yet.
func (u *Upstream) isCandidate() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.life.supersedes != nil
}

// promote lets an upstream that is ready take the place that it was made for. It is false
// when that is no more.
func (u *Upstream) promote() bool {
	u.mu.Lock()
	gone := u.life.supersedes
	u.life.supersedes = nil
	u.mu.Unlock()
	return gone == nil || u.env.Host.Replace(gone, u)
}

// The pauses between two tries: each is twice the last. The first one comes again when the
// server was there for as long as the longest.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// era is that of an upstream that is ready.
func (u *Upstream) era() mcpwire.Era {
	if u.Source.Modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// is reports whether the upstream is in this state.
func (u *Upstream) is(state State) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state == state
}

// judgeAgain makes the entries anew that other options see in another way.
func (u *Upstream) judgeAgain() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for k, entries := range u.offered.entries {
		next := slices.Clone(entries)
		for i, e := range entries {
			if again := catalog.NewEntry(u.Source, e.Item, u.env.Host.Rules()); !again.JudgedAs(e) {
				next[i] = again
			}
		}
		u.offered.entries[mcpwire.Kind(k)] = next
	}
}

// leave notes why an upstream is ended that nobody has ended yet.
func (u *Upstream) leave(why string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.problem == "" {
		u.problem = why
	}
}

// openLease lets calls to a leased upstream, which is ready.
func (u *Upstream) openLease() {
	var out peer.Outgoing
	u.pending.limiter.Open()
	u.admitNext(&out)
	out.Flush()
}

// KnownTo reports whether clients of a catalog may know that there is the server.
func (u *Upstream) KnownTo(c *catalog.Catalog) bool { return c.Knows(u.Source, u.offer().Entries) }

// Of returns the upstream that a source is of; nil for nil.
func Of(s *catalog.Source) *Upstream {
	if s == nil {
		return nil
	}
	u, _ := s.Server.(*Upstream)
	return u
}

// claim is what toolman says of itself in its own requests to modern servers.
func (e *Env) claim() *mcpwire.Claim { return mcpwire.NewClaim(nil, e.info(), "") }

// info is toolman's Implementation object.
func (e *Env) info() []byte {
	return append(jsonrpc.AppendQuoted([]byte(`{"name":"toolman","version":`), e.Version), '}')
}

// A Dedication says whom an upstream is for that sessions do not share.
type Dedication struct {
	Owner   Caller
	Many    bool           // it speaks for several programs
	Client  *mcpwire.Hello // what the server is told of the client
	Era     mcpwire.Era    // in which the server is spoken to; Unknown: as it is configured
	Leased  bool           // it is for one call at a time and offers nothing
	Settled func()         // is called when it need not be waited for any more
}

// dedicate makes an upstream like a shared one, for one caller. It has to be run.
func (u *Upstream) dedicate(server Server, d Dedication) *Upstream {
	own := New0(u.env, server, u.Name, d.Settled)
	own.Source.Modern, own.life.awaited = u.Source.Modern, u.life.awaited
	own.private.replaces, own.private.leased = u, d.Leased
	own.own(d.Owner, d.Many)
	own.greeting = greeting{known: alreadyGreeted, client: d.Client}
	if d.Era != mcpwire.Unknown {
		own.Era = d.Era
	}
	if d.Leased {
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
func (u *Upstream) Shared() *Upstream { return u.private.replaces }

// load is how many calls a leased upstream has.
func (u *Upstream) load() int { return u.pending.limiter.Load() }

// ToldCapabilities are the capabilities of the client that the server was told of.
func (u *Upstream) ToldCapabilities() json.RawMessage { return u.greeting.client.Capabilities }

// configured is the server as the configuration that was given last has it.
func (u *Upstream) configured() *Server { return u.latest.Load() }

// reconfigure has what is started from now on be like this.
func (u *Upstream) reconfigure(s *Server) { u.latest.Store(s) }

// await has the first list wait for the upstream until it is ready or gone.
func (u *Upstream) await() { u.life.awaited = true }

// over is closed when the upstream is gone and its callers have been told.
func (u *Upstream) Ended() <-chan struct{} { return u.life.ended }

// successor makes an upstream for a server that is gone, which takes its place when it is ready.
func (u *Upstream) successor(server Server) *Upstream {
	next := New0(u.env, server, u.Name, func() {})
	next.life.supersedes = u
	next.inherit(u)
	return next
}

// inherit makes the upstream that of another's owner.
func (u *Upstream) inherit(gone *Upstream) { u.private.caller.Store(gone.private.caller.Load()) }

// ExplainBy has the upstream be gone for another's reason.
func (u *Upstream) ExplainBy(other *Upstream) {
	other.mu.Lock()
	problem := other.problem
	other.mu.Unlock()
	u.mu.Lock()
	u.problem = problem
	u.mu.Unlock()
}

// refreshing reports whether lists of the server have changed and are not yet read again.
func (u *Upstream) refreshing() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.offered.refreshing
}
