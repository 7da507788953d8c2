package report

import (
	"context"
	"crypto/rand"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/setup"
	"toolman/mcpwire/sanitize"
	"toolman/router/httpd/cluster/engine"
)

// A cluster is what toolman check found out about [cluster].
type cluster struct {
	Name     string   `json:"name"`
	Engine   string   `json:"engine"` // ready or unreachable
	Problem  string   `json:"problem,omitempty"`
	Stateful []string `json:"stateful_servers"` // of which each replica has a process that remembers
}

// AddCluster joins the engine of the configuration's cluster, if it has one, and reports what it
// found.
func (rep *Report) AddCluster(ctx context.Context, c *config.Config) {
	if c.Cluster == nil {
		return
	}
	rep.Cluster = &cluster{Name: c.Cluster.Name, Engine: "ready", Stateful: []string{}}
	policy, err := join(ctx, c)
	if err != nil {
		problem := sanitize.Line(strings.TrimPrefix(err.Error(), "engine: "))
		if !strings.Contains(problem, "; ") { // which says what to do
			problem += "; start it, or correct engine in [cluster]"
		}
		rep.Cluster.Engine, rep.Cluster.Problem = "unreachable", problem
		rep.problem("%s:%d: the engine of cluster %s cannot be used: %s", rep.Config, c.Cluster.Line, c.Cluster.Name, problem)
		rep.OK = false
	}
	if strings.HasPrefix(policy, "allkeys-") || strings.HasPrefix(policy, "volatile-") {
		rep.note("warning: the engine of cluster %s drops sessions when its memory is short (maxmemory-policy %s); set maxmemory-policy noeviction there", c.Cluster.Name, sanitize.Line(policy))
	}
	for _, s := range setup.Enabled(c) {
		if !s.Stateless {
			rep.Cluster.Stateful = append(rep.Cluster.Stateful, s.Name)
		}
	}
	if names := rep.Cluster.Stateful; len(names) > 0 {
		rep.note("each replica has its own process of these servers, which may remember something: %s; set stateless = true for those that remember nothing", sanitize.Line(strings.Join(names, ", ")))
	}
}

// join joins the engine as a replica would, without a lease, and returns which keys the engine
// drops when its memory is short; "" if that is not known.
func join(ctx context.Context, c *config.Config) (policy string, err error) {
	e, err := engine.Open(engine.Options{
		URL: c.Cluster.Engine, CA: c.Cluster.EngineCA, Plaintext: c.Cluster.EnginePlaintext,
		Name: c.Cluster.Name, Secrets: c.Cluster.Secrets, Replica: strings.ToLower(rand.Text()[:8]),
	})
	if err != nil {
		return "", err
	}
	defer e.Close()
	if _, err := e.Join(ctx); err != nil {
		return "", err
	}
	policy, _ = e.Policy(ctx) // which a user may not be allowed to read
	return policy, nil
}
