package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/dial"
	"toolman/router/discovery"
	"toolman/spawn"
)

// Run brings an upstream up: its process at once, the handshake as soon as it is
// known what the client can do.
func (u *Upstream) Run(reaper *spawn.Reaper) {
	if u.Is(PerSession) {
		u.settled()
		return
	}
	u.life.startedAt = time.Now()
	if err := u.start(reaper); err != nil {
		u.fail(err.Error())
		return
	}
	select {
	case <-u.greeting.known:
	case <-u.life.ended:
		return
	}
	slow := time.AfterFunc(u.StartTimeout, u.startTimeoutPassed)
	defer slow.Stop()
	ctx, cancel := context.WithTimeoutCause(u.env.Context, startTimeoutFactor*u.StartTimeout,
		fmt.Errorf("no answer within %s, %d times its start_timeout", startTimeoutFactor*u.StartTimeout, startTimeoutFactor))
	defer cancel()
	err := u.prepare(ctx)
	if errors.Is(err, discovery.ErrProbed) {
		u.pipe.conn.Stop()
		if err = u.launch(reaper); err != nil {
			u.shutdown(err)
			return
		}
		u.Era = mcpwire.Legacy
		err = u.prepare(ctx)
	}
	if err != nil {
		u.fail(err.Error())
		return
	}
	u.becomeReady(time.Since(u.life.startedAt))
}

// startTimeoutPassed says that an upstream takes long; the first list waits no longer, unless it was told to.
func (u *Upstream) startTimeoutPassed() {
	if u.isCandidate() {
		return
	}
	next := "its items will be added when it is"
	if u.life.awaited {
		next = "it is waited for"
	}
	u.Log.Warn("the server is not ready within its start_timeout; "+next,
		zap.Duration("dur", u.StartTimeout), zap.String("text", u.pipe.conn.LastWords()))
	if !u.life.awaited {
		u.settled()
	}
}

// prepare does the handshake and reads the lists.
func (u *Upstream) prepare(ctx context.Context) error {
	if err := u.handshake(ctx); err != nil {
		return err
	}
	if u.dedicated.leased {
		return nil // what it has is known
	}
	u.Listen() // before the lists are read: no change is missed
	kinds := []mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Template, mcpwire.Prompt}
	return u.read(ctx, kinds)
}

// becomeReady lets clients see the upstream.
func (u *Upstream) becomeReady(took time.Duration) {
	u.mu.Lock()
	if u.state != Starting {
		u.mu.Unlock()
		return
	}
	u.state, u.life.startup = Ready, took
	if u.dedicated.leased {
		u.mu.Unlock()
		u.openLease()
		return
	}
	counts := u.lists.Entries()
	revision := u.offered.result.ProtocolVersion
	u.mu.Unlock()
	u.Log.Info("upstream ready", zap.String("revision", revision), zap.Duration("dur", took),
		zap.Int("tools", len(counts[mcpwire.Tool])), zap.Int("resources", len(counts[mcpwire.Resource])),
		zap.Int("templates", len(counts[mcpwire.Template])), zap.Int("prompts", len(counts[mcpwire.Prompt])))
	u.env.Trace.Event(trace.EventReady, u.Name, fmt.Sprintf("%d tools, %d resources, %d templates, %d prompts", len(counts[mcpwire.Tool]),
		len(counts[mcpwire.Resource]), len(counts[mcpwire.Template]), len(counts[mcpwire.Prompt])), 0)
	if !u.promote() {
		return
	}
	for _, s := range u.callers() {
		s.Ready(u)
	}
	u.update()
	u.settled()
	u.changed() // what changed while the lists were read
}

// start runs the server's command and begins to read it.
func (u *Upstream) start(reaper *spawn.Reaper) error {
	u.Command.Name = u.Name
	u.Command.Stderr = func(line string) {
		u.Log.Info("stderr", zap.String("text", line))
		u.env.Trace.Stderr(u.Name, line)
	}
	u.Command.PipeSize = u.env.pipeSize()
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
	if !u.attach(conn) {
		conn.Stop()
		return dial.ErrEnding
	}
	u.env.Trace.Event(trace.EventSpawn, u.Name, conn.String(), 0)
	conn.Start(u, u.life.ended)
	return nil
}

// connect makes a connection to the server, and starts it if it does not run already.
func (u *Upstream) connect(reaper *spawn.Reaper) (dial.Conn, error) {
	switch {
	case u.Dial != nil:
		return u.Dial(u.Command.Stderr)
	case u.Socket != "":
		return dial.Socket(u.env.Context, u.Socket, u.env.Loop, u.FrameLimit, u.life.ended)
	}
	return dial.Process(u.Command, reaper, u.env.Loop, u.FrameLimit, u.env.Router.Ladder)
}

// attach makes a connection the upstream's, unless that is to end.
func (u *Upstream) attach(conn dial.Conn) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing {
		return false
	}
	u.env.starts.add(u.Name)
	u.pipe.conn, u.pipe.out = conn, conn.Out()
	u.pipe.control = jsonrpc.NewControl(u.sendControl, controlIDs{u})
	return true
}

func (u *Upstream) isClosing() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.closing
}

// Closed implements peer.Handler: the server has closed its output. One that does
// so because it was asked for its era gets a second life.
func (u *Upstream) Closed(err error) {
	if u.greeting.probing.CompareAndSwap(true, false) {
		go u.pipe.control.Close()
		return
	}
	go u.shutdown(err)
}

// shutdown ends an upstream that is gone: everybody is told, and what is left of its
// processes is ended.
func (u *Upstream) shutdown(err error) {
	u.life.shutdownOnce.Do(func() {
		u.markGone(u.pipe.conn.Cause(err))
		u.pipe.conn.Stop()
	})
}

// markGone answers the callers of an upstream that is gone and takes its items out
// of the catalog.
func (u *Upstream) markGone(problem string) {
	u.mu.Lock()
	was, closing := u.state, u.closing
	u.state = Gone
	if u.problem == "" {
		u.problem = problem
	}
	problem, after := u.problem, u.life.supersedes
	u.mu.Unlock()
	news := after.isNewProblem(problem)
	u.answerAll()
	u.pipe.control.Close()
	close(u.life.ended)
	if !closing && news {
		u.Log.Warn("upstream gone", zap.String("err", problem), zap.Stringer("state", was), zap.String("text", u.pipe.conn.LastWords()))
		u.env.Trace.Event(trace.EventGone, u.Name, problem, 0)
	}
	if !closing && after == nil {
		u.update()
		u.scheduleReconnect()
	}
	u.settled()
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
	if after.isNewProblem(reason) {
		if !closing {
			u.Log.Warn("upstream not started", zap.String("err", reason))
		}
		u.env.Trace.Event(trace.EventGone, u.Name, reason, 0)
	}
	u.answerAll()
	close(u.life.ended)
	u.settled()
	if !closing {
		u.scheduleReconnect()
	}
}

// Stop ends the upstream because toolman ends.
func (u *Upstream) Stop() {
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

// update has what the upstream offers shown anew.
func (u *Upstream) update() {
	if u.dedicated.leased {
		return
	}
	if owner := u.Owner(); owner != nil && u.dedicated.replaces != nil {
		owner.Refresh()
		return
	}
	u.env.Router.Changed()
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

// The pauses between two tries: each is twice the last. The first one comes again when the
// server was there for as long as the longest.
const (
	MinRetryPause = time.Second
	MaxRetryPause = 30 * time.Second
)

// Reconnects reports whether the server is tried again when it is gone. One that is another
// for each session is not: nobody sees whether it could be reached, and the session would wait.
func (u *Upstream) Reconnects() bool {
	return (u.Dial != nil || u.Socket != "") && !u.dedicated.leased && u.For == nil && (u.dedicated.replaces == nil || u.dedicated.replaces.For == nil)
}

// scheduleReconnect has the session that an upstream was for get another one of its own: soon, if that
// was there for long.
func (u *Upstream) scheduleReconnect() {
	owner := u.Owner()
	if owner == nil || u.dedicated.replaces == nil || !u.Reconnects() {
		return
	}
	pause := MaxRetryPause
	if time.Since(u.life.startedAt) >= MaxRetryPause {
		pause = MinRetryPause
	}
	u.SetNextTry(pause)
	time.AfterFunc(pause, func() { owner.Reconnect(u) })
}

// SetNextTry notes when the server is tried again, for those who ask.
func (u *Upstream) SetNextTry(pause time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.life.nextTry = time.Now().Add(pause)
}

// isNewProblem reports whether this is another reason to be gone than u has, which may be nil.
func (u *Upstream) isNewProblem(problem string) bool {
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
	return gone == nil || u.env.Router.Replace(gone, u)
}

// NewReplacement makes an upstream for a server that is gone, which takes its place when it is ready.
func (u *Upstream) NewReplacement(server Server) *Upstream {
	next := New(u.env, server, u.Name, func() {})
	next.life.supersedes = u
	next.InheritOwner(u)
	return next
}

// InheritOwner makes the upstream that of another's owner.
func (u *Upstream) InheritOwner(gone *Upstream) {
	u.dedicated.caller.Store(gone.dedicated.caller.Load())
}

// CopyProblem has the upstream be gone for another's reason.
func (u *Upstream) CopyProblem(other *Upstream) {
	other.mu.Lock()
	problem := other.problem
	other.mu.Unlock()
	u.mu.Lock()
	u.problem = problem
	u.mu.Unlock()
}
