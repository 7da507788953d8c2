package main

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"

	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/router"
	"toolman/router/budget"
	"toolman/router/httpd"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/caller"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/modes"
	"toolman/router/httpd/ops"
	"toolman/router/policy"
)

// guardOptions say who may come in.
func guardOptions(c *config.Config, budgets *budget.Budgets, log *zap.Logger) guard.Options {
	h := &c.HTTP
	o := guard.Options{
		AllowedOrigins: h.AllowedOrigins, AllowedHosts: h.AllowedHosts,
		Agent: c.Agent, Unauthenticated: h.Unauthenticated,
		TrustedProxies: h.TrustedProxies, RequireClientID: h.RequireClientID,
		MaxBodyBytes: int64(h.MaxBodyBytes), MaxConnections: h.MaxConnections, Budgets: budgets, RateLimit: h.RateLimit,
		Warn: func(what string, err error) { log.Warn(what, zap.NamedError("err", err)) },
	}
	if c.Rules != nil {
		o.Agents = slices.Sorted(maps.Keys(c.Rules.Agents))
	}
	for _, t := range h.Tokens {
		o.Tokens = append(o.Tokens, guard.Token{Agent: t.Agent, Hash: t.Hash})
	}
	if j := h.JWT; j != nil {
		o.JWT = &guard.JWT{Issuer: j.Issuer, Audience: j.Audience, Algorithms: j.Algorithms, JWKS: j.JWKS, AgentClaim: j.AgentClaim, Scopes: j.Scopes}
	}
	return o
}

// agents are those whose clients there may be, each with what it may have.
type agents map[string]*policy.Policy

// agentsOf reads the policies of all agents, and of those who are none.
func agentsOf(c *config.Config) (agents, error) {
	all := agents{}
	names := []string{c.Agent}
	if c.Rules != nil {
		names = slices.AppendSeq(names, maps.Keys(c.Rules.Agents))
	}
	for _, name := range names {
		var err error
		if all[name], err = c.Rules.For(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// policy is router.Options.PolicyOf. An agent that a reload has taken away has nothing
// any more: the zero Policy allows nothing.
func (a agents) policy(agent string) *policy.Policy {
	if p, known := a[agent]; known {
		return p
	}
	return new(policy.Policy)
}

// modeOptions say what the clients that the guard lets in are shown.
func (a *app) modeOptions(c *config.Config, g *guard.Guard, log *zap.Logger) modes.Options {
	o := modes.Options{
		Static: c.HTTP.Mode == "static", MetaTools: metaTools(c), Open: !g.Authenticates(),
		ConfigKeys: c.HTTP.SessionConfigKeys, Key: a.sessionKey, Note: func(text string) { log.Warn(text) },
	}
	if p := c.HTTP.Permissions; p != nil {
		o.Permissions = &modes.Permissions{Header: p.Header, Agents: p.Agents}
	}
	for _, set := range c.Toolsets {
		o.Toolsets = append(o.Toolsets, set.Name)
	}
	if c.Rules != nil {
		o.Agents = slices.Sorted(maps.Keys(c.Rules.Agents))
	}
	return o
}

// A front is what serves HTTP, behind a guard.
type front struct {
	router   *router.Router
	budgets  *budget.Budgets
	endpoint *httpd.Endpoint
	bridge   *bridge.Bridge
	health   *ops.Health
	metrics  *ops.Metrics
	rights   atomic.Pointer[rights]
}

// admit goes on with other rights. Who does not have the same any more loses its sessions, and all that
// is open in them.
func (f *front) admit(who *rights) {
	who.routes = f.routes(who.guard)
	f.rights.Store(who)
	f.endpoint.Recheck()
	f.bridge.Recheck()
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who := f.rights.Load()
	who.routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), rightsKey{}, who)))
}

// rightsKey is where a request's context has the rights that it came with.
type rightsKey struct{}

func rightsOf(r *http.Request) *rights { return r.Context().Value(rightsKey{}).(*rights) }

// lasts is httpd.Options.Lasts.
func (f *front) lasts(c *caller.Caller) bool {
	now := f.rights.Load()
	id, ok := now.guard.Again(c.Client.Principal)
	return ok && now.modes.Lasts(c, id)
}

// callerOf is httpd.Options.Caller.
func callerOf(r *http.Request) (caller.Caller, error) { return rightsOf(r).modes.Caller(r) }

// routes are what is served behind a guard.
func (f *front) routes(g *guard.Guard) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", inside(g, f.endpoint))
	mux.Handle("/mcp/{"+guard.PathName+"}", inside(g, f.endpoint))
	mux.Handle(guard.MetadataPath, g.Open(g.Metadata()))
	mux.Handle(guard.MetadataPath+"/", g.Open(g.Metadata()))
	for _, path := range f.bridge.Paths() {
		mux.Handle(path, f.bridged(g, f.bridge))
	}
	documents := g.Open(bridge.Documents())
	mux.Handle("/openapi.json", documents)
	mux.Handle("/docs", documents)
	mux.Handle("/metrics", inside(g, ops.Only(mayReadMetrics, noMetrics, f.metrics.Handler(f.router))))
	mux.Handle("/.well-known/mcp-config", inside(g, ops.Document("application/schema+json", config.Schema())))
	probes := ops.Probes(f.health)
	mux.Handle("/", g.Open(probes))
	mux.Handle("/health", byCredential(g.ProtectAs(bridge.Refusal, identified(probes)), g.Open(probes)))
	return guard.Plain(mux)
}

// namesOf say who may read the names of all servers and agents.
type namesOf struct {
	open    bool     // nobody needs a credential
	all     bool     // nobody is restricted, unless a proxy says so
	readers []string // agents who may in any case
}

const noMetrics = "the metrics name servers and agents that this client may not know of; metrics_readers in [http] says which agents may read them"

// mayReadMetrics reports whether a client may read every name. One on this machine that needs no
// credential may be any agent, and so knows all that they do.
func mayReadMetrics(r *http.Request) bool {
	id, _ := guard.IdentityOf(r.Context())
	may := rightsOf(r).names
	return !id.Restricted && (may.all || may.open && id.Addr.IsLoopback()) || !may.open && slices.Contains(may.readers, id.Agent)
}

// byCredential serves requests with a credential as a client's, and others as a stranger's.
func byCredential(client, stranger http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values("Authorization")) > 0 {
			client.ServeHTTP(w, r)
		} else {
			stranger.ServeHTTP(w, r)
		}
	})
}

// known are the servers that who makes a request may know of, nil for a stranger. Where nobody needs
// a credential there are no strangers.
func (f *front) known(r *http.Request) []router.Status {
	who := rightsOf(r)
	id, ok := guard.IdentityOf(r.Context())
	if !ok {
		if who.guard.Authenticates() {
			return nil
		}
		id.Policy = who.guard.Agent
	}
	return f.router.Known(who.modes.Client(&id))
}

// inside is h behind a guard. The record of a request says who has come in.
func inside(g *guard.Guard, h http.Handler) http.Handler { return g.Protect(identified(h)) }

// bridged is inside for the bridge, whose errors are of another form. Its ?agent=NAME is what
// NAME is in /mcp/NAME.
func (f *front) bridged(g *guard.Guard, h http.Handler) http.Handler {
	next := g.ProtectAs(bridge.Refusal, identified(h))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.SetPathValue(guard.PathName, r.URL.Query().Get("agent"))
		next.ServeHTTP(w, r)
	})
}

func identified(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := guard.IdentityOf(r.Context())
		ops.Identify(r.Context(), id.Name)
		h.ServeHTTP(w, r)
	})
}

func (f *front) tools(r *http.Request) router.ToolStatus {
	id, _ := guard.IdentityOf(r.Context())
	return f.router.ToolStatus(rightsOf(r).modes.Client(&id))
}

// endpointURL is where clients find the endpoint.
func endpointURL(l net.Listener, s *http.Server) string {
	scheme := "http"
	if s.TLSConfig != nil {
		scheme = "https"
	}
	return scheme + "://" + l.Addr().String() + "/mcp"
}
