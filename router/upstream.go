package router

import (
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
	source *catalog.Source
	r      *Router
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
	owner    atomic.Pointer[Session] // nil: sessions share it
	replaces *Upstream               // the shared one in whose place the owner has it; nil: none
	leased   bool                    // it is for one call at a time and offers nothing
	used     atomic.Int64            // when it was leased last
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
	calls    jsonrpc.Pending[call]
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

// upstreamLogLevels are what clients want the server to log.
type upstreamLogLevels struct {
	pending map[uint64]*pendingLogLevel // what waits for answers to logging/setLevel, by ID
	queued  []*pendingLogLevel          // what waits for one of the session's own to be ready
	raised  logThreshold                // what modern clients' requests have it log
}

// offer returns what the upstream has, or had when it went.
func (u *Upstream) offer() catalog.Offer {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state == Starting && u.private.replaces != nil {
		return catalog.Offer{Source: u.source, Entries: u.private.replaces.offer().Entries, Alive: false} // nobody takes the names meanwhile
	}
	return catalog.Offer{Source: u.source, Entries: slices.Concat(u.offered.entries[:]...), Alive: u.state == Ready}
}

// settled tells the router that the first list need not wait for this upstream
// any more.
func (u *Upstream) settled() { u.life.settled.Do(u.life.onSettled) }

// goneText says why nothing can be asked of the upstream any more.
func (u *Upstream) goneText() string {
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
func (u *Upstream) start(reaper *spawn.Reaper) error {
	u.Command.Name = u.Name
	u.Command.Stderr = func(line string) {
		u.log.Info("stderr", zap.String("text", line))
		u.r.trace.Stderr(u.Name, line)
	}
	u.Command.PipeSize = u.r.pipeSize()
	defer close(u.life.begun)
	return u.launch(reaper)
}

// launch starts a process for the upstream and begins to read it.
func (u *Upstream) launch(reaper *spawn.Reaper) error {
	if u.isClosing() {
		return dial.ErrEnding
	}
	conn, err := u.connect(reaper)
	if err != nil {
		return err
	}
	if !u.take(conn) {
		conn.Stop()
		return dial.ErrEnding
	}
	u.r.trace.Event(trace.EventSpawn, u.Name, conn.String(), 0)
	conn.Start(u, u.life.ended)
	return nil
}

// connect makes a connection to the server, and starts it if it does not run already.
func (u *Upstream) connect(reaper *spawn.Reaper) (dial.Conn, error) {
	switch {
	case u.Dial != nil:
		return u.Dial(u.Command.Stderr)
	case u.Socket != "":
		return dial.Socket(u.r.run.ctx, u.Socket, u.r.run.loop, u.FrameLimit, u.life.ended)
	}
	return dial.Process(u.Command, reaper, u.r.run.loop, u.FrameLimit, u.r.ladder)
}

// take makes a connection the upstream's, unless that is to end.
func (u *Upstream) take(conn dial.Conn) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing {
		return false
	}
	u.r.starts.add(u.Name)
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
func (r *Router) pipeSize() int {
	if len(r.all()) <= 8 {
		return 1 << 20
	}
	return 128 << 10
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
		u.r.trace.Event(trace.EventGone, u.Name, problem, 0)
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
	if s := u.private.owner.Load(); s != nil && u.private.replaces != nil {
		s.refresh(true)
		return
	}
	u.r.update()
}

// answerAll answers everybody who waits for the upstream, and takes back what it
// has asked.
func (u *Upstream) answerAll() {
	var out peer.Outgoing
	for _, c := range u.pending.calls.Close() {
		if c.session != nil {
			c.session.fail(&c, u.goneText(), audit.Gone, &out)
		}
	}
	for _, c := range u.pending.limiter.Close() {
		c.session.fail(&c.call, u.goneText(), audit.Gone, &out)
	}
	u.endPendingLogLevels(&out)
	for _, s := range u.sessions() {
		s.withdraw(u, &out)
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
		u.r.trace.Event(trace.EventGone, u.Name, reason, 0)
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
	if u.r.trace.On() {
		var own tracing.Note
		var m jsonrpc.Message
		if jsonrpc.Scan(frame, &m) == nil {
			id, _ := jsonrpc.ParseID(m.Bytes(m.ID))
			c, _ := u.pending.calls.Get(id)
			own = tracing.Note{ID: c.n, Method: c.method}
		}
		u.r.trace.Sent(tracing.Upstream, u.Name, frame, own)
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
	r := o.u.r
	return o.u.pending.calls.Add(call{method: mcpwire.Method(method), n: r.trace.Next(), sent: r.clock.Now()})
}

func (o ownIDs) Forget(id uint64) {
	o.u.pending.calls.Take(id)
	o.u.pending.late.add(id)
}
