package main

import (
	"context"
	"crypto/rand"
	"net"
	"runtime/debug"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/jsonrpc"
	"toolman/router"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/httpd"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/ops"
)

const serveHelp = `serve starts every server of tools.toml and offers their tools, resources and prompts to
any number of clients over streamable HTTP, in both eras of MCP, at
http://127.0.0.1:8900/mcp unless [http] in tools.toml or --http say otherwise.

It ends on SIGTERM, once the calls under way are answered. GET /health says whether
clients can be sent here, GET /healthz whether it is alive.`

func newServeCommand(a *app) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:              "serve",
		Short:            "Serve many clients over HTTP",
		Long:             serveHelp,
		Args:             noArguments,
		PersistentPreRun: func(*cobra.Command, []string) {}, // SIGHUP does not end it
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
	files := watches(at)
	c, err := config.Load(at.Path, a.httpOptions())
	if err != nil {
		return err
	}
	if address != "" {
		c.HTTP.Listen = address
	}
	return a.withRouter(ctx, c, at, func(o router.Options, loop *jsonrpc.Loop, log *zap.Logger) error {
		rand.Read(a.sessionKey[:])
		budgets := budgetsOf(&c.HTTP)
		who, err := a.newRights(c, budgets, log)
		if err != nil {
			return err
		}
		l, err := who.guard.Listen(c.HTTP.Listen)
		if err != nil {
			return usage(err, "see [http] in "+c.Path)
		}
		defer l.Close()
		f := a.newFront(c, who, budgets, o, loop, log)
		go a.reloads(ctx, f, at, files, log)
		return a.serveOn(ctx, l, &c.HTTP, f, log)
	})
}

// httpOptions are for reading a configuration whose [http] counts.
func (a *app) httpOptions() config.Options {
	o := a.configOptions()
	o.HTTP = true
	return o
}

// budgetsOf limit what each client can hold.
func budgetsOf(c *config.HTTP) *budget.Budgets {
	l := c.Limits
	return budget.New(budget.Limits{
		budget.Bytes: l.Bytes, budget.Sessions: l.Sessions, budget.Streams: l.Streams,
		budget.Calls: l.Calls, budget.Processes: l.Processes, budget.Connections: l.Connections,
	}, budget.Shared())
}

// newFront joins what serves HTTP.
func (a *app) newFront(c *config.Config, who *rights, budgets *budget.Budgets, o router.Options, loop *jsonrpc.Loop, log *zap.Logger) *front {
	o.PolicyOf, o.MetaTools = who.agents.policy, who.modes.Offers()
	metrics := ops.NewMetrics(version())
	o.Audit = audit.Watch(o.Audit, metrics)
	r := router.New(o, loop, log)
	f := &front{router: r, budgets: budgets, health: ops.NewHealth(r), metrics: metrics}
	f.health.Known = f.known
	f.endpoint = httpd.New(r, httpd.Options{Caller: callerOf, Lasts: f.lasts, Outlive: metrics.Outlive, Budgets: budgets,
		MaxBody: int64(c.HTTP.MaxBodyBytes), MaxSessions: c.HTTP.MaxSessions, Idle: c.HTTP.SessionIdle})
	to := a.bridgeOptions(&c.HTTP, budgets)
	to.Status, to.Lasts = f.tools, f.lasts
	f.bridge = bridge.New(r, to)
	f.admit(who)
	return f
}

// serveOn serves clients on a listener from the first server's start to the end of the last.
func (a *app) serveOn(ctx context.Context, l net.Listener, c *config.HTTP, f *front, log *zap.Logger) error {
	// A gateway keeps little, so that a few large messages would start a collection. With the default of
	// 100, messages of 1 MB take 15 % more processor time and 64 calls in flight 5 %.
	debug.SetGCPercent(200)
	told := []func(*ops.Request){f.metrics.Request}
	if c.AccessLog {
		told = append(told, ops.AccessLog(log))
	}
	handler := ops.Record(httpd.EndOnPanic(f.metrics.Gauge(f)), told...)
	server, err := f.rights.Load().guard.Server(handler, guard.Certificate{Cert: c.TLSCert, Key: c.TLSKey}, zap.NewStdLog(log.Named("http")))
	if err != nil {
		return usage(err, "see tls_cert and tls_key of [http]")
	}
	f.router.Start(a.guard())
	f.router.GreetShared() // the first client finds them ready
	defer f.router.Close()
	defer f.endpoint.Close()
	defer f.bridge.Close()
	log.Info("serving", zap.String("url", endpointURL(l, server)))
	cut, err := ops.Serve(ctx, server, l, ops.Ending{Health: f.health, Notice: c.DrainNotice, Wait: c.Drain,
		Calls: func() int { return f.endpoint.Calls() + f.bridge.Calls() }, EndStreams: f.endpoint.EndStreams})
	log.Info("ending", zap.Int("calls_cut_off", cut))
	return err
}
