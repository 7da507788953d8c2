package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/spawn"
)

// run brings an upstream up: its process at once, the handshake as soon as it is
// known what the client can do.
func (u *Upstream) run(reaper *spawn.Reaper) {
	if u.is(Apart) {
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
	slow := time.AfterFunc(u.StartTimeout, u.slow)
	defer slow.Stop()
	ctx, cancel := context.WithTimeoutCause(u.r.run.ctx, giveUp*u.StartTimeout,
		fmt.Errorf("no answer within %s, %d times its start_timeout", giveUp*u.StartTimeout, giveUp))
	defer cancel()
	err := u.prepare(ctx)
	if errors.Is(err, errProbed) {
		u.pipe.conn.Stop()
		if err = u.launch(reaper); err != nil {
			u.bury(err)
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

// slow says that an upstream takes long; the first list waits no longer, unless it was told to.
func (u *Upstream) slow() {
	if u.isCandidate() {
		return
	}
	next := "its items will be added when it is"
	if u.life.awaited {
		next = "it is waited for"
	}
	u.log.Warn("the server is not ready within its start_timeout; "+next,
		zap.Duration("dur", u.StartTimeout), zap.String("text", u.pipe.conn.LastWords()))
	if !u.life.awaited {
		u.settled()
	}
}

// prepare does the handshake and reads the lists.
func (u *Upstream) prepare(ctx context.Context) error {
	if err := u.meet(ctx); err != nil {
		return err
	}
	if u.private.leased {
		return nil // what it has is known
	}
	u.listen() // before the lists are read: no change is missed
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
	if u.private.leased {
		u.mu.Unlock()
		u.openLease()
		return
	}
	counts := u.offered.entries
	revision := u.offered.result.ProtocolVersion
	u.mu.Unlock()
	u.log.Info("upstream ready", zap.String("revision", revision), zap.Duration("dur", took),
		zap.Int("tools", len(counts[mcpwire.Tool])), zap.Int("resources", len(counts[mcpwire.Resource])),
		zap.Int("templates", len(counts[mcpwire.Template])), zap.Int("prompts", len(counts[mcpwire.Prompt])))
	u.r.trace.Event(trace.EventReady, u.Name, fmt.Sprintf("%d tools, %d resources, %d templates, %d prompts", len(counts[mcpwire.Tool]),
		len(counts[mcpwire.Resource]), len(counts[mcpwire.Template]), len(counts[mcpwire.Prompt])), 0)
	if !u.promote() {
		return
	}
	for _, s := range u.sessions() {
		s.replayLevel(u) // before calls that wait
	}
	u.update()
	u.settled()
	u.changed() // what changed while the lists were read
}
