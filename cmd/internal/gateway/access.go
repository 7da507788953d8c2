package gateway

import (
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/setup"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/bridge/calllog"
	"toolman/router/httpd/cluster/ratelimit"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/modes"
	"toolman/router/policy"
)

// An access is who may use the server and for what, according to one version of the configuration.
type access struct {
	guard          *guard.Guard
	policyOf       func(agent string) *policy.Policy // as in router.Options
	modes          *modes.Modes
	logsOf         func(agent string) bridge.Logs // which logs of calls an agent may read
	unrestricted   bool                           // no client is restricted, except by a trusted proxy
	metricsReaders []string                       // agents that may read the metrics in any case
	countsTool     func(name string) bool         // which tools the metrics count by name; nil: none
	routes         http.Handler
}

// newAccess makes an access, as yet without routes.
func (s *server) newAccess(c *config.Config) (*access, error) {
	policyOf, err := policies(c)
	if err != nil {
		return nil, err
	}
	g, err := guard.New(s.guardOptions(c))
	if err != nil {
		return nil, err
	}
	return &access{guard: g, policyOf: policyOf, modes: modes.New(s.modeOptions(c, g)), logsOf: s.callLogs(c, g.Authenticates()),
		unrestricted: c.Rules == nil && c.HTTP.Permissions == nil, metricsReaders: c.HTTP.MetricsReaders, countsTool: anyOf(c.HTTP.MetricsTools)}, nil
}

// admit replaces the server's access. It ends the sessions of clients whose rights are not the
// same as before, and what is open in them.
func (s *server) admit(a *access) {
	a.routes = s.routes(a.guard)
	s.access.Store(a)
	s.metrics.CountTools(a.countsTool)
	s.endpoint.Recheck()
	s.bridge.Recheck()
}

// anyOf reports whether a name matches one of some names and globs; nil without any.
func anyOf(patterns []string) func(name string) bool {
	if len(patterns) == 0 {
		return nil
	}
	var all []func(name string) bool
	for _, p := range patterns {
		all = append(all, policy.Entry{Text: p}.Matcher())
	}
	return func(name string) bool {
		return slices.ContainsFunc(all, func(matches func(string) bool) bool { return matches(name) })
	}
}

// guardOptions configures authentication.
func (s *server) guardOptions(c *config.Config) guard.Options {
	h := &c.HTTP
	o := guard.Options{
		AllowedOrigins: h.AllowedOrigins, AllowedHosts: h.AllowedHosts,
		Agent: c.Agent, Agents: agentNames(c), Unauthenticated: h.Unauthenticated,
		TrustedProxies: h.TrustedProxies, RequireClientID: h.RequireClientID,
		MaxBodyBytes: int64(h.MaxBodyBytes), MaxConnections: h.MaxConnections, Budgets: s.budgets, RateLimit: h.RateLimit,
		JWT:  (*guard.JWT)(h.JWT),
		Warn: func(what string, err error) { s.Log.Warn(what, zap.NamedError("err", err)) },
	}
	if s.replica != nil && h.RateLimit > 0 {
		o.Within = ratelimit.New(ratelimit.Options{Limit: h.RateLimit, Take: s.replica.engine.Take, Replicas: func() int { return s.replica.Status().Replicas }}).Allow
	}
	for _, t := range h.Tokens {
		o.Tokens = append(o.Tokens, guard.Token{Agent: t.Agent, Hash: t.Hash})
	}
	return o
}

// modeOptions configures what admitted clients see.
func (s *server) modeOptions(c *config.Config, g *guard.Guard) modes.Options {
	o := modes.Options{
		Static: c.HTTP.Mode == "static", MetaTools: setup.MetaTools(c), Open: !g.Authenticates(), Agents: agentNames(c),
		Permissions: (*modes.Permissions)(c.HTTP.Permissions), ConfigKeys: c.HTTP.SessionConfigKeys, StrictConfig: c.HTTP.StrictConfig, ConfigUses: map[string][]string{},
		Key: s.digestKey, Note: func(text string) { s.Log.Warn(text) },
	}
	for _, server := range setup.Enabled(c) {
		for _, key := range server.SessionKeys() {
			o.ConfigUses[key] = append(o.ConfigUses[key], server.Name)
		}
	}
	for _, set := range c.Toolsets {
		o.Toolsets = append(o.Toolsets, set.Name)
	}
	return o
}

func agentNames(c *config.Config) []string {
	if c.Rules == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.Rules.Agents))
}

// policies returns the policies of all agents, and of clients that are none of them. An agent that
// a reload has removed gets the zero Policy, which allows nothing.
func policies(c *config.Config) (of func(agent string) *policy.Policy, err error) {
	all := map[string]*policy.Policy{}
	for _, name := range append(agentNames(c), c.Agent) {
		if all[name], err = c.Rules.For(name); err != nil {
			return nil, err
		}
	}
	return func(agent string) *policy.Policy {
		if p, known := all[agent]; known {
			return p
		}
		return new(policy.Policy)
	}, nil
}

// callLogVariable tells a server where to log its calls.
const callLogVariable = "MCP_CALL_LOG="

// callLogs returns which logs of calls an agent may read: all if no client needs a credential, or
// the agent is one of http.log_readers.
func (s *server) callLogs(c *config.Config, authenticates bool) (of func(agent string) bridge.Logs) {
	all := bridge.Logs{All: true}
	for _, of := range setup.Enabled(c) {
		for _, v := range of.Env {
			if path, ok := strings.CutPrefix(v, callLogVariable); ok && path != "" {
				if !filepath.IsAbs(path) {
					path = filepath.Join(of.Dir, path)
				}
				file := calllog.File{Server: of.Name, Path: path}
				all.Files = append(all.Files, file)
				s.calls.Use(file)
			}
		}
	}
	return func(agent string) bridge.Logs {
		if !authenticates || slices.Contains(c.HTTP.LogReaders, agent) {
			return all
		}
		return bridge.Logs{}
	}
}
