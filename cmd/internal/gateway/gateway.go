package gateway

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"

	"go.uber.org/zap"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/cluster"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/setup"
	"toolman/router"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/httpd"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/bridge/calllog"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/ops"
	"toolman/router/httpd/presence"
)

// A server serves HTTP for one router. What depends on the configuration is in its access.
type server struct {
	*engine.Engine
	flags *engine.Flags
	key   [32]byte // for hashes of what sessions say about themselves

	programsFree, clientsFree atomic.Bool // every replica of the cluster can serve them

	cluster *cluster.Settings // as toolman started

	router   *router.Router
	budgets  *budget.Budgets
	endpoint *httpd.Endpoint
	bridge   *bridge.Bridge
	health   *ops.Health
	metrics  *ops.Metrics
	calls    *calllog.Log
	access   atomic.Pointer[access]
	replica  *replica // nil without [cluster]
}

// Run serves clients over HTTP until ctx ends by a signal. An address other than "" replaces
// http.listen.
func Run(ctx context.Context, flags *engine.Flags, address string) error {
	flags.HTTP = true
	at, err := flags.Find()
	if err != nil {
		return err
	}
	files := setup.NewWatch(at.Files()...) // before Load: later changes count
	c, err := flags.LoadAt(at)
	if err != nil {
		return err
	}
	if address != "" {
		c.HTTP.Listen = address
	}
	return engine.Run(ctx, flags, c, flags.Stderr, func(e *engine.Engine) error {
		s := &server{Engine: e, flags: flags, budgets: budget.New(c.HTTP.Limits, budget.Shared()), cluster: c.Cluster}
		rand.Read(s.key[:])
		calls := calllog.Options{Scrub: e.Secrets.JSON, Code: bridge.CodeOf}
		if c.Cluster != nil {
			if s.replica, err = s.newReplica(c, at.Files()); err != nil {
				return err
			}
			calls.Replica = s.replica.id
		}
		s.calls = calllog.New(calls)
		a, err := s.newAccess(c)
		if err != nil {
			return err
		}
		l, err := a.guard.Listen(c.HTTP.Listen)
		if err != nil {
			return cli.Usage(err, "see [http] in "+c.Path)
		}
		defer l.Close()
		s.assemble(&c.HTTP, a)
		go s.watch(ctx, at, files, hangUps()) // a signal may come as soon as clients are served
		return s.serve(ctx, l, &c.HTTP)
	})
}

// assemble makes the router and the handlers.
func (s *server) assemble(c *config.HTTP, a *access) {
	o := s.RouterOptions
	o.PolicyOf, o.MetaTools, o.ClientIdle = a.policyOf, a.modes.Offers(), c.SessionIdle
	s.metrics = ops.NewMetrics(setup.Version())
	o.Audit = audit.Record(audit.Watch(o.Audit, s.metrics), s.calls)
	if s.replica != nil {
		o.Replica = s.replica.id
	}
	o.Recall = true
	s.router = router.New(o, s.Loop, s.Log)
	s.health = ops.NewHealth(s.router)
	s.health.Known = s.known
	front := presence.Options{Caller: callerOf, Lasts: s.lasts, Dropped: s.logDropped, Budgets: s.budgets,
		MaxBody: int64(c.MaxBodyBytes), MaxSessions: c.MaxSessions, Idle: c.SessionIdle}
	endpoint, programs := httpd.Options{Options: front, Outlive: s.metrics.Outlive, LateAnswers: s.RouterOptions.Debug != nil}, front
	s.noteFree(&o)
	if s.replica != nil {
		s.replica.join(&endpoint.Options, false)
		s.replica.join(&programs, true)
		endpoint.NewID, s.health.Cluster = s.replica.NewID, s.replica.health
	}
	s.endpoint = httpd.New(s.router, endpoint)
	api := bridge.Options{
		Options: programs, Status: s.tools, ActiveOnly: c.BridgeActiveOnly, Log: s.calls,
		Logs:      func(r *http.Request, agent string) bridge.Logs { return accessOf(r).logsOf(agent) },
		Correlate: func(r *http.Request, id string) { ops.Correlate(r.Context(), id) },
	}
	if s.replica != nil {
		api.OtherLogs = s.replica.otherLogs
	}
	s.bridge = bridge.New(s.router, api)
	s.admit(a)
}

// serve serves clients on a listener, from the start of the first server to the end of the last.
func (s *server) serve(ctx context.Context, l net.Listener, c *config.HTTP) error {
	// A gateway keeps little, so that a few large messages would start a collection. With the
	// default of 100, messages of 1 MB take 15 % more processor time and 64 calls in flight 5 %.
	debug.SetGCPercent(200)
	observers := []func(*ops.Request){s.metrics.Request}
	if c.AccessLog {
		observers = append(observers, ops.AccessLog(s.Log))
	}
	handler := ops.Record(httpd.EndOnPanic(s.metrics.Gauge(s)), observers...)
	h, err := s.access.Load().guard.Server(handler, guard.Certificate{Cert: c.TLSCert, Key: c.TLSKey}, zap.NewStdLog(s.Log.Named("http")))
	if err != nil {
		return cli.Usage(err, "see tls_cert and tls_key of [http]")
	}
	s.router.Start(s.Reaper())
	s.router.HandshakeShared() // the first client finds them ready
	defer s.router.Close()
	if s.replica != nil {
		s.replica.start(s)
		defer s.replica.end()
	}
	defer s.endpoint.Close()
	defer s.bridge.Close()
	url := "http://" + l.Addr().String() + "/mcp"
	if h.TLSConfig != nil {
		url = "https://" + l.Addr().String() + "/mcp"
	}
	s.Log.Info("serving", zap.String("url", url))
	ending := ops.Ending{Health: s.health, Notice: c.DrainNotice, Wait: c.Drain,
		Calls: func() int { return s.endpoint.Calls() + s.bridge.Calls() }, EndStreams: func() {
			s.RouterOptions.Debug.Close() // what is held can still be answered
			s.endpoint.EndStreams()
		}}
	if s.replica != nil {
		s.replica.drainWith(&ending)
	}
	cut, err := ops.Serve(ctx, h, l, ending)
	s.Log.Info("ending", zap.Int("calls_cut_off", cut))
	return err
}
