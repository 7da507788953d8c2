package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/spawn"
)

// run brings an upstream up: its process at once, the handshake as soon as it is
// known what the client can do.
func (u *Upstream) run(guard *spawn.Guard) {
	began := time.Now()
	if err := u.start(guard); err != nil {
		u.fail(err.Error())
		return
	}
	select {
	case <-u.r.greeted:
	case <-u.ended:
		return
	}
	slow := time.AfterFunc(u.StartTimeout, u.slow)
	defer slow.Stop()
	ctx, cancel := context.WithTimeoutCause(u.r.ctx, giveUp*u.StartTimeout,
		fmt.Errorf("no answer within %s, %d times its start_timeout", giveUp*u.StartTimeout, giveUp))
	defer cancel()
	if err := u.prepare(ctx); err != nil {
		u.fail(err.Error())
		return
	}
	u.becomeReady(time.Since(began))
}

// slow says that an upstream takes long; the first list waits no longer.
func (u *Upstream) slow() {
	u.log.Warn("the server is not ready within its start_timeout; its items will be added when it is",
		zap.Duration("dur", u.StartTimeout), zap.String("text", u.proc.StderrTail()))
	u.settled()
}

// prepare does the handshake and reads the lists.
func (u *Upstream) prepare(ctx context.Context) error {
	result, err := u.handshake(ctx)
	if err != nil {
		return err
	}
	u.mu.Lock()
	u.result = result
	u.mu.Unlock()
	kinds := []mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Template, mcpwire.Prompt}
	return u.read(ctx, kinds)
}

// handshake does initialize and says that it is done.
func (u *Upstream) handshake(ctx context.Context) (mcpwire.InitializeResult, error) {
	hello := u.r.hello()
	result, err := u.initialize(ctx, hello, mcpwire.Latest)
	if version, ok := offered(err); ok {
		result, err = u.initialize(ctx, hello, version)
	}
	if err != nil {
		return result, err
	}
	if !mcpwire.Supported(result.ProtocolVersion) {
		return result, fmt.Errorf("initialize: the server speaks revision %q, which this toolman does not", clean(cut(result.ProtocolVersion, nameLimit)))
	}
	u.r.trace.event(trace.EventReady, u.Name, "initialized, revision "+result.ProtocolVersion, 0)
	return result, u.control.Notify(ctx, string(mcpwire.Initialized), nil)
}

func (u *Upstream) initialize(ctx context.Context, hello mcpwire.Hello, version string) (result mcpwire.InitializeResult, err error) {
	params := mcpwire.InitializeParams{ProtocolVersion: version, Capabilities: hello.Relayed(), ClientInfo: hello.Info}
	if params.ClientInfo == nil {
		params.ClientInfo = json.RawMessage(`{"name":"toolman","version":` + string(jsonrpc.AppendQuoted(nil, u.r.Version)) + `}`)
	}
	raw, err := u.control.Call(ctx, string(mcpwire.Initialize), params)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("initialize: the answer has a wrong shape: %w", err)
	}
	return result, nil
}

// offered finds a revision that a server names in refusing ours, as servers do
// that take only the one they know.
func offered(err error) (string, bool) {
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) || refused.Data == nil {
		return "", false
	}
	var data struct{ Supported []string }
	if json.Unmarshal(*refused.Data, &data) != nil {
		return "", false
	}
	for _, version := range data.Supported {
		if mcpwire.Supported(version) {
			return version, true
		}
	}
	return "", false
}

// becomeReady lets clients see the upstream.
func (u *Upstream) becomeReady(took time.Duration) {
	u.mu.Lock()
	if u.state != Starting {
		u.mu.Unlock()
		return
	}
	u.state, u.took = Ready, took
	counts := u.entries
	revision := u.result.ProtocolVersion
	u.mu.Unlock()
	u.log.Info("upstream ready", zap.String("revision", revision), zap.Duration("dur", took),
		zap.Int("tools", len(counts[mcpwire.Tool])), zap.Int("resources", len(counts[mcpwire.Resource])),
		zap.Int("templates", len(counts[mcpwire.Template])), zap.Int("prompts", len(counts[mcpwire.Prompt])))
	u.r.trace.event(trace.EventReady, u.Name, fmt.Sprintf("%d tools, %d resources, %d templates, %d prompts", len(counts[mcpwire.Tool]),
		len(counts[mcpwire.Resource]), len(counts[mcpwire.Template]), len(counts[mcpwire.Prompt])), 0)
	u.r.update()
	u.settled()
	if s := u.r.session.Load(); s != nil {
		s.replayLevel(u)
	}
	u.changed() // what changed while the lists were read
}

// replayLevel tells an upstream the log level that was set before it was ready.
func (s *Session) replayLevel(u *Upstream) {
	var b jsonrpc.Batch
	s.mu.Lock()
	if s.level != nil {
		u.setLevel(s.level, &b)
	}
	s.mu.Unlock()
	b.Flush()
}
