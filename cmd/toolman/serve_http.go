package main

import (
	"context"
	"net"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/jsonrpc"
	"toolman/router"
	"toolman/router/httpd"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/ops"
	"toolman/spawn"
)

const serveHelp = `serve starts every server of tools.toml and offers their tools, resources and prompts to
any number of clients over streamable HTTP, in both eras of MCP, at
http://127.0.0.1:8900/mcp unless [http] in tools.toml or --http say otherwise.

It ends on SIGTERM, once the calls under way are answered. GET /health says whether
clients can be sent here, GET /healthz whether it is alive.`

func newServeCommand(a *app) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve many clients over HTTP",
		Long:  serveHelp,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serveHTTP(cmd.Context(), address)
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "listen on `address` (host:port), instead of what [http] says")
	a.addTraceFlags(cmd)
	a.addTaskFlags(cmd)
	return cmd
}

// serveHTTP serves clients over HTTP until a signal comes.
func (a *app) serveHTTP(ctx context.Context, address string) error {
	at, err := a.find()
	if err != nil {
		return err
	}
	o := a.configOptions()
	o.HTTP = true
	c, err := config.Load(at.Path, o)
	if err != nil {
		return err
	}
	if address != "" {
		c.HTTP.Listen = address
	}
	return a.withRouter(c, at, func(o router.Options, loop *jsonrpc.Loop, log *zap.Logger) error {
		g, err := guard.New(guardOptions(c, log))
		if err != nil {
			return err
		}
		l, err := g.Listen(c.HTTP.Listen)
		if err != nil {
			return usage(err, "see [http] in "+c.Path)
		}
		defer l.Close()
		f, err := newFront(c, g, o, loop, log)
		if err != nil {
			return err
		}
		return serveOn(ctx, l, &c.HTTP, f, log)
	})
}

// newFront joins what serves HTTP.
func newFront(c *config.Config, g *guard.Guard, o router.Options, loop *jsonrpc.Loop, log *zap.Logger) (*front, error) {
	all, err := agentsOf(c)
	if err != nil {
		return nil, err
	}
	o.PolicyOf = all.policy
	r := router.New(o, loop, log)
	endpoint := httpd.New(r, httpd.Options{Caller: all.caller, MaxBody: int64(c.HTTP.MaxBodyBytes), MaxSessions: c.HTTP.MaxSessions, Idle: c.HTTP.SessionIdle})
	return &front{guard: g, agents: all, router: r, endpoint: endpoint, health: ops.NewHealth(r)}, nil
}

// serveOn serves clients on a listener from the first server's start to the end of the last.
func serveOn(ctx context.Context, l net.Listener, c *config.HTTP, f *front, log *zap.Logger) error {
	handler := f.routes()
	if c.AccessLog {
		handler = ops.Record(handler, ops.AccessLog(log))
	}
	server, err := f.guard.Server(handler, guard.Certificate{Cert: c.TLSCert, Key: c.TLSKey}, zap.NewStdLog(log.Named("http")))
	if err != nil {
		return usage(err, "see tls_cert and tls_key of [http]")
	}
	keeper, err := spawn.StartGuard()
	if err != nil {
		log.Warn("no guard: servers may outlive a toolman that is killed", zap.NamedError("err", err))
	}
	defer keeper.Close()
	f.router.Start(keeper)
	f.router.GreetShared() // the first client finds them ready
	defer f.router.Close()
	defer f.endpoint.Close()
	log.Info("serving", zap.String("url", endpointURL(l, server)))
	cut, err := ops.Serve(ctx, server, l, ops.Ending{Health: f.health, Notice: c.DrainNotice, Wait: c.Drain,
		Calls: f.endpoint.Calls, EndStreams: f.endpoint.EndStreams})
	log.Info("ending", zap.Int("calls_cut_off", cut))
	return err
}
