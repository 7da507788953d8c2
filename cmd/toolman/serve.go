package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/stdio"
	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/router"
)

const (
	drainTime   = 3 * time.Second       // for calls under way when the client closes its side
	flushTime   = 50 * time.Millisecond // for the last bytes to the client, the trace and the log
	traceQueue  = 32 << 20              // bytes of trace that may wait for a slow disk
	clientQueue = 1 << 20               // bytes that may wait for the client before servers have to
)

// serve is toolman without a command: an MCP server on standard input and
// output, until the client closes them or a signal comes.
func (a *app) serve(ctx context.Context) error {
	c, at, err := a.load()
	if err != nil {
		return err
	}
	return a.serveConfig(ctx, c, at)
}

// serveConfig is serve with a configuration that is read.
func (a *app) serveConfig(ctx context.Context, c *config.Config, at config.Location) error {
	return a.withRouter(ctx, c, at, func(o router.Options, loop *jsonrpc.Loop, log *zap.Logger) error {
		return a.session(ctx, o, c.Agent, loop, log)
	})
}

// withRouter makes all that a router needs, and ends it again when serve returns. A signal ends ctx.
func (a *app) withRouter(ctx context.Context, c *config.Config, at config.Location, serve func(router.Options, *jsonrpc.Loop, *zap.Logger) error) error {
	log, logged, err := a.openLog(c.Secrets)
	if err != nil {
		return err
	}
	defer logged()
	defer a.startGuard(log)()
	log.Info("starting", zap.String("config", at.Path), zap.String("why", at.Why), zap.Int("servers", len(c.Servers)), zap.String("agent", c.Agent))
	o, err := routerOptions(c, log)
	if err != nil {
		return err
	}
	o.Run, o.Signalled = newRun(), ctx
	audited, err := a.openAudit(&o, c, log)
	if err != nil {
		return err
	}
	defer audited()
	if o.Trace, err = a.openTrace(c, o.Run, log); err != nil {
		return err
	}
	if o.Trace != nil {
		defer o.Trace.Close(flushTime)
	}
	a.keepSaid(&o)
	loop, err := jsonrpc.NewLoop()
	if err != nil {
		return err
	}
	defer loop.Close()
	return serve(o, loop, log)
}

// session serves one client from its first byte to the end of the servers.
func (a *app) session(ctx context.Context, o router.Options, agent string, loop *jsonrpc.Loop, log *zap.Logger) error {
	in, out, flush, err := stdio.Open(a.stdin, a.stdout)
	if err != nil {
		return err
	}
	peer, err := loop.Peer(in, out, jsonrpc.PeerOptions{QueueLimit: clientQueue, Pressure: true})
	if err != nil {
		return err
	}
	r := router.New(o, loop, log)
	s := r.NewSession(peer, router.Client{Sole: true, Agent: agent})
	peer.Start(s) // initialize is answered before any server is started
	r.Start(a.guard())
	select {
	case <-ctx.Done():
		log.Info("ending: " + context.Cause(ctx).Error())
	case <-s.Gone():
		log.Info("ending: the client has closed the connection")
		drain(ctx, s, peer)
	}
	r.Close()
	peer.CloseWrite()
	flush(flushTime)
	peer.Close()
	return nil
}

// drain lets what is under way be answered, while there is a client to read it.
func drain(ctx context.Context, s *router.Session, peer *jsonrpc.Peer) {
	if s.Broken() {
		return
	}
	if !drained(ctx, peer, s.Pending) {
		s.Abandon()
	}
}

// drained waits until nothing is pending and the peer has all that it was sent, or reads no
// more; false when that takes longer than drainTime.
func drained(ctx context.Context, peer *jsonrpc.Peer, pending func() int) bool {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for (pending() > 0 || peer.Waiting() > 0) && !peer.Deaf() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// openTrace opens the trace that --trace or TOOLMAN_TRACE asks for; nil is none.
func (a *app) openTrace(c *config.Config, run string, log *zap.Logger) (*trace.Writer, error) {
	name := a.trace
	if name == "" {
		name = os.Getenv("TOOLMAN_TRACE")
	}
	if name == "" {
		return nil, nil
	}
	out := a.stderr
	if name != "-" {
		file, err := trace.Open(name) // appends: a client may start toolman more than once
		if err != nil {
			return nil, usage(fmt.Errorf("the trace cannot be written: %w", err), "name a file in a folder that exists and may be written to, or - for standard error")
		}
		out = file
	}
	return trace.NewWriter(out, trace.Options{
		Session: traceSession(c, run),
		Secrets: c.Secrets,
		MaxMsg:  a.traceMax, QueueBytes: traceQueue,
		Warn: func(err error) { log.Warn("the trace is not complete", zap.NamedError("err", err)) },
	}), nil
}

func traceSession(c *config.Config, run string) trace.Session {
	s := trace.Session{Run: run, Toolman: version(), Go: runtime.Version(), Config: c.Path}
	s.Cwd, _ = os.Getwd()
	for _, server := range c.Servers {
		if server.Enabled {
			s.Upstreams = append(s.Upstreams, trace.Server{Name: server.Namespace, Command: commandOf(&server)})
		}
	}
	return s
}
