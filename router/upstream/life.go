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
	"toolman/router/dial"
	"toolman/router/discovery"
	"toolman/spawn"
)

// Run starts the server and returns when it is ready or has failed. It starts the process at once,
// and the handshake as soon as the client's capabilities are known.
func (u *Upstream) Run(reaper *spawn.Reaper) {
	if u.Is(PerSession) {
		u.settled()
		return
	}
	u.lifecycle.startedAt = time.Now()
	if err := u.start(reaper); err != nil {
		u.fail(err.Error())
		return
	}
	select {
	case <-u.greeting.known:
	case <-u.lifecycle.ended:
		return
	}
	slow := time.AfterFunc(u.StartTimeout, u.startTimeoutPassed)
	defer slow.Stop()
	limit, why := u.startLimit()
	ctx, cancel := context.WithTimeoutCause(u.env.Context, limit, fmt.Errorf("no answer within %s%s", limit, why))
	defer cancel()
	err := u.prepare(ctx)
	if errors.Is(err, discovery.ErrProbed) {
		u.transport.conn.Stop()
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
	u.becomeReady(time.Since(u.lifecycle.startedAt))
}

// start sets the command's name, log and pipe size, and launches it.
func (u *Upstream) start(reaper *spawn.Reaper) error {
	u.Command.Name = u.Name
	u.Command.Stderr = func(line string) {
		u.Log.Info("stderr", zap.String("text", line))
		u.env.Trace.Stderr(u.Name, line)
	}
	u.Command.PipeSize = dial.PipeSize(u.env.Router.Servers())
	defer close(u.lifecycle.begun)
	return u.launch(reaper)
}

// launch connects to the server and begins to read from it.
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
	conn.Start(u.entry(), u.lifecycle.ended)
	return nil
}

// entry returns the handler for what the server sends.
func (u *Upstream) entry() peer.Handler {
	if u.transport.gate != nil {
		return u.transport.gate
	}
	return u
}

// Disconnect begins to end the connection, as if the server had done so. It does not wait.
func (u *Upstream) Disconnect(why string) { go u.fail(why) }

// connect makes a connection to the server. It starts the server if the connection is to a process.
func (u *Upstream) connect(reaper *spawn.Reaper) (dial.Conn, error) {
	switch {
	case u.Unusable != "":
		return nil, errors.New(u.Unusable)
	case u.Dial != nil:
		return u.Dial(u.Command.Stderr)
	case u.Socket != "":
		return dial.Socket(u.env.Context, u.Socket, u.env.Loop, u.FrameLimit, u.lifecycle.ended)
	}
	return dial.Process(u.Command, reaper, u.env.Loop, u.FrameLimit, u.env.Router.Ladder)
}

// attach sets the connection of the upstream. It returns false if Stop was called.
func (u *Upstream) attach(conn dial.Conn) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing {
		return false
	}
	u.env.starts.Add(u.Name)
	u.transport.conn, u.transport.out = conn, conn.Out()
	if u.env.Gate != nil {
		u.transport.gate = u.env.Gate(u)
	}
	u.transport.control = jsonrpc.NewControl(u.sendControl, controlIDs{u})
	return true
}

func (u *Upstream) isClosing() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.closing
}

// startTimeoutPassed logs that the server is late. The first list stops waiting for it, unless
// Await was called.
func (u *Upstream) startTimeoutPassed() {
	next := "its items will be added when it is"
	switch {
	case u.superseded().Recalled():
		next = "its items are offered from the catalog cache, and calls wait for it"
	case u.isCandidate():
		return
	case u.lifecycle.awaited:
		next = "it is waited for"
	}
	u.Log.Warn("the server is not ready within its start_timeout; "+next,
		zap.Duration("dur", u.StartTimeout), zap.String("text", u.transport.conn.LastWords()))
	if !u.lifecycle.awaited {
		u.settled()
	}
}

// prepare does the handshake and reads the lists.
func (u *Upstream) prepare(ctx context.Context) error {
	if err := u.handshake(ctx); err != nil {
		return err
	}
	if u.dedicated.leased {
		return nil // the shared upstream has the lists
	}
	u.Feed.Listen() // before the lists are read, so that no change is missed
	kinds := []mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Template, mcpwire.Prompt}
	return u.read(ctx, kinds)
}

// becomeReady sets the state to Ready, adds the items to the catalog and admits waiting calls. took
// is the time since Run was called.
func (u *Upstream) becomeReady(took time.Duration) {
	u.mu.Lock()
	if u.state != Starting {
		u.mu.Unlock()
		return
	}
	u.state, u.lifecycle.startup = Ready, took
	u.Feed.Open()
	u.items.refresher.Open()
	if u.dedicated.leased {
		u.mu.Unlock()
		u.openLease()
		return
	}
	counts := u.items.lists.Entries()
	revision := u.result().ProtocolVersion
	u.mu.Unlock()
	u.Log.Info("upstream ready", zap.String("revision", revision), zap.Duration("dur", took),
		zap.Int("tools", len(counts[mcpwire.Tool])), zap.Int("resources", len(counts[mcpwire.Resource])),
		zap.Int("templates", len(counts[mcpwire.Template])), zap.Int("prompts", len(counts[mcpwire.Prompt])))
	u.env.Trace.Event(trace.EventReady, u.Name, fmt.Sprintf("%d tools, %d resources, %d templates, %d prompts", len(counts[mcpwire.Tool]),
		len(counts[mcpwire.Resource]), len(counts[mcpwire.Template]), len(counts[mcpwire.Prompt])), 0)
	u.items.keeper.Changed()
	if !u.promote() {
		return
	}
	for _, s := range u.callers() {
		s.Ready(u)
	}
	u.update()
	u.settled()
	u.changed() // reads lists that changed while they were read
}

// openLease admits calls to a leased upstream, which is ready.
func (u *Upstream) openLease() {
	var out peer.Outgoing
	u.Calls.Open(&out)
	out.Flush()
}

// settled tells the router that the first list need not wait for this upstream.
func (u *Upstream) settled() { u.lifecycle.settled.Do(u.lifecycle.onSettled) }

// update shows the client or clients what the upstream offers now.
func (u *Upstream) update() {
	if u.dedicated.leased {
		return
	}
	if owner := u.Owner(); owner != nil && u.Shared() != nil {
		owner.Refresh()
		return
	}
	u.env.Router.Changed()
}

// fail ends an upstream. If there is no connection yet, fail marks the upstream as gone. Otherwise
// it closes the connection, and Closed does the rest.
func (u *Upstream) fail(reason string) {
	u.mu.Lock()
	if u.problem == "" {
		u.setProblemLocked(reason)
	}
	started, closing, after := u.transport.conn != nil, u.closing, u.lifecycle.supersedes
	if !started {
		u.endLocked()
	}
	u.mu.Unlock()
	if started {
		u.transport.conn.Stop()
		return
	}
	if after.isNewProblem(reason) {
		if !closing {
			u.Log.Warn("upstream not started", zap.String("err", reason))
		}
		u.env.Trace.Event(trace.EventGone, u.Name, reason, 0)
	}
	u.answerAll()
	close(u.lifecycle.ended)
	u.settled()
}

// Closed implements peer.Handler: the server has closed its output. A process that did so in response
// to server/discover is started again (see Run). A server over HTTP answers, and has another reason.
func (u *Upstream) Closed(err error) {
	if u.Dial == nil && u.greeting.probing.CompareAndSwap(true, false) {
		go u.transport.control.Close()
		return
	}
	go u.shutdown(err)
}

// shutdown marks the upstream as gone and ends what is left of its processes.
func (u *Upstream) shutdown(err error) {
	u.lifecycle.shutdownOnce.Do(func() {
		u.markGone(u.transport.conn.Cause(err))
		u.transport.conn.Stop()
	})
}

// markGone sets the state to Gone, answers the pending calls, and removes the items from the
// catalog. failed says that the server did not end by its own decision.
func (u *Upstream) markGone(problem string, failed bool) {
	u.mu.Lock()
	was, closing := u.state, u.closing
	u.endLocked()
	u.lifecycle.finished = was == Ready && u.problem == "" && !failed
	if u.problem == "" {
		u.setProblemLocked(problem)
	}
	problem, after := u.problem, u.lifecycle.supersedes
	u.mu.Unlock()
	isNew := after.isNewProblem(problem)
	u.answerAll()
	u.transport.control.Close()
	close(u.lifecycle.ended)
	if !closing && isNew {
		u.Log.Warn("upstream gone", zap.String("err", problem), zap.Stringer("state", was), zap.String("text", u.transport.conn.LastWords()))
		u.env.Trace.Event(trace.EventGone, u.Name, problem, 0)
	}
	if !closing && after == nil {
		u.update()
	}
	u.settled()
}

// endLocked sets the state to Gone.
func (u *Upstream) endLocked() {
	u.state = Gone
	u.Feed.Close()
	u.items.refresher.Close()
}

// setProblemLocked sets the reason why the upstream ends, and whether a login helps.
func (u *Upstream) setProblemLocked(problem string) {
	if u.problem = problem; u.Login == nil {
		return
	}
	if command, what := u.Login.Wanted(problem); command != "" {
		u.lifecycle.login, u.problem = command, "it "+what
	}
}

// isNewProblem reports whether problem differs from u's. It is true if u is nil.
func (u *Upstream) isNewProblem(problem string) bool {
	if u == nil {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.problem != problem
}

// answerAll fails all calls, pending or queued, and withdraws the server's own requests.
func (u *Upstream) answerAll() {
	var out peer.Outgoing
	u.Calls.Close(u.GoneText(), &out)
	u.Feed.EndLevels(&out)
	for _, s := range u.callers() {
		s.Withdraw(u, &out)
	}
	out.Flush()
}

// Stop ends the upstream because toolman ends or no longer needs it, and returns when its process
// and that of its replacement are gone. Run must have been called.
func (u *Upstream) Stop() {
	u.mu.Lock()
	u.closing = true
	replacement := u.lifecycle.replacement
	u.mu.Unlock()
	u.lifecycle.stopOnce.Do(func() { close(u.lifecycle.stopped) })
	if replacement != nil {
		replacement.Stop()
	}
	<-u.lifecycle.begun // the process may be starting
	u.mu.Lock()
	conn := u.transport.conn
	u.mu.Unlock()
	if conn != nil {
		conn.Stop()
		<-u.lifecycle.ended
	}
}
