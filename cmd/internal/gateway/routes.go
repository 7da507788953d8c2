package gateway

import (
	"context"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"toolman/router"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/ops"
	"toolman/router/httpd/presence"
	"toolman/router/upstream"
)

// routes returns the handlers behind a guard.
func (s *server) routes(g *guard.Guard) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", protect(g, s.endpoint))
	mux.Handle("/mcp/{"+guard.PathName+"}", protect(g, s.endpoint))
	mux.Handle(guard.MetadataPath, g.Open(g.Metadata()))
	mux.Handle(guard.MetadataPath+"/", g.Open(g.Metadata()))
	for _, path := range s.bridge.Paths() {
		mux.Handle(path, protectByAgent(g, bridge.Refusal, s.bridge))
	}
	documents := g.Open(bridge.Documents())
	mux.Handle("/openapi.json", documents)
	mux.Handle("/docs", documents)
	mux.Handle("/metrics", protect(g, ops.Only(mayReadMetrics, noMetrics, s.metrics.Handler(s.router, s.replica.clusterMetrics()...))))
	mux.Handle("/.well-known/mcp-config", protectByAgent(g, guard.RPCError, ops.Document("application/schema+json", configSchema)))
	probes := ops.Probes(s.health)
	mux.Handle("/", g.Open(probes))
	mux.Handle("/health", byCredential(g.ProtectAs(bridge.Refusal, identify(probes)), g.Open(probes)))
	return guard.Plain(mux)
}

// protect lets only clients that the guard admits reach h, and records which client it was.
func protect(g *guard.Guard, h http.Handler) http.Handler { return g.Protect(identify(h)) }

// protectByAgent is protect with a form of errors of its own. ?agent=NAME selects an agent as
// /mcp/NAME does.
func protectByAgent(g *guard.Guard, refusal guard.RefusalBody, h http.Handler) http.Handler {
	next := g.ProtectAs(refusal, identify(h))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.SetPathValue(guard.PathName, r.URL.Query().Get("agent"))
		next.ServeHTTP(w, r)
	})
}

func identify(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := guard.IdentityOf(r.Context())
		ops.Identify(r.Context(), accessOf(r).modes.NameOf(id))
		h.ServeHTTP(w, r)
	})
}

// byCredential passes requests with a credential to client, and others to stranger.
func byCredential(client, stranger http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values("Authorization")) > 0 {
			client.ServeHTTP(w, r)
		} else {
			stranger.ServeHTTP(w, r)
		}
	})
}

// ServeHTTP implements http.Handler. A request keeps the access with which it came in.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := s.access.Load()
	a.routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), accessKey{}, a)))
}

// accessKey is the key of a request's access in its context.
type accessKey struct{}

func accessOf(r *http.Request) *access { return r.Context().Value(accessKey{}).(*access) }

// callerOf is httpd.Options.Caller.
func callerOf(r *http.Request) (presence.Caller, error) { return accessOf(r).modes.Caller(r) }

// logDropped is httpd.Options.Dropped.
func (s *server) logDropped(c *presence.Caller) {
	s.Log.Warn("a session continues without part of what its client has sent", zap.String("agent", c.Client.Name), zap.Strings("dropped", c.Dropped))
}

// lasts is httpd.Options.Lasts.
func (s *server) lasts(c *presence.Caller) bool {
	now := s.access.Load()
	id, ok := now.guard.Again(c.Client.Principal)
	return ok && now.modes.Lasts(c, id)
}

// known returns the servers whose health a client may see, nil for a client without a
// credential. Where none is required, every client may see them.
func (s *server) known(r *http.Request) []upstream.Status {
	a := accessOf(r)
	id, ok := guard.IdentityOf(r.Context())
	if !ok {
		if a.guard.Authenticates() {
			return nil
		}
		id.Policy = a.guard.Agent
	}
	return s.router.Known(a.modes.Client(&id))
}

func (s *server) tools(r *http.Request) router.ToolStatus {
	id, _ := guard.IdentityOf(r.Context())
	return s.router.ToolStatus(accessOf(r).modes.Client(&id))
}

// configSchema returns the JSON Schema of what a client may send in ?config=.
func configSchema(r *http.Request) ([]byte, error) {
	a := accessOf(r)
	id, _ := guard.IdentityOf(r.Context())
	return a.modes.ConfigSchema(id, func(agent, server string) bool { return a.policyOf(agent).Opens(server) })
}

const noMetrics = "the metrics name servers and agents that this client may not know of; metrics_readers in [http] says which agents may read them"

// mayReadMetrics reports whether a client may read all metrics. A local client that needs no
// credential can act as any agent, so it may.
func mayReadMetrics(r *http.Request) bool {
	a := accessOf(r)
	id, _ := guard.IdentityOf(r.Context())
	if !a.guard.Authenticates() {
		return !id.Restricted && (a.unrestricted || id.Addr.IsLoopback())
	}
	return !id.Restricted && a.unrestricted || slices.Contains(a.metricsReaders, id.Agent)
}
