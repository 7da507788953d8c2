package logincmd

import (
	"context"
	"fmt"
	"sync"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/signin"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
	"toolman/router/upstream"
)

const atOnce = 8 // servers that are asked at the same time

// list prints a line for each server at a URL.
func (c *command) list(ctx context.Context) error {
	type line struct {
		name, text string
		wanted     bool
	}
	var lines []line
	var all sync.WaitGroup
	turn := make(chan struct{}, atOnce)
	servers := setup.Enabled(c.config)
	lines = make([]line, len(servers))
	for i, s := range servers {
		if s.Remote == nil && s.Missing == nil {
			continue
		}
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			text, wanted := c.lookAt(ctx, s)
			lines[i] = line{sanitize.Line(s.Name), text, wanted}
		})
	}
	all.Wait()
	width, found, wanted := 0, 0, 0
	for _, l := range lines {
		width = max(width, len(l.name))
	}
	for _, l := range lines {
		if l.text == "" {
			continue
		}
		found++
		wanted += btoi(l.wanted)
		fmt.Fprintf(c.out, "%-*s  %s\n", width, l.name, c.secrets.Text(l.text))
	}
	switch {
	case found == 0:
		c.say("no server of " + c.config.Path + " is at a URL")
	case wanted > 0:
		return cli.Failed(fmt.Errorf("%s without a login", cli.CountIs(wanted, "server")), "run the command in its line")
	}
	return ctx.Err()
}

// lookAt returns the line of a server, "" for none.
func (c *command) lookAt(ctx context.Context, s *config.Server) (text string, wanted bool) {
	if s.Remote != nil && !s.Remote.TakesLogin() {
		return "credentials of its own, in the configuration", false
	}
	if s.Remote != nil && s.Remote.OAuth != nil && s.Remote.OAuth.PerAgent && c.agent == "" {
		return "a login for each agent: toolman login " + sanitize.Line(s.Name) + " --agent NAME", false
	}
	own := *c
	if s.Remote == nil || s.Remote.OAuth == nil || !s.Remote.OAuth.PerAgent {
		own.agent = ""
	}
	t, err := own.target(s)
	if err != nil {
		return "unknown: " + sanitize.Line(err.Error()), false
	}
	out, err := own.flow(t).Look(ctx)
	switch {
	case err != nil:
		return "unknown: " + sanitize.Line(err.Error()), false
	case out.State == signin.NotWanted:
		return "no login wanted", false
	case out.State == signin.Already:
		return "logged in at " + out.Record.Describe(), false
	}
	return "wants a login: " + setup.LoginCommand(s, t.key.Agent), true
}

// countTools lists the tools of a server once, and says how many there are. That it fails does not
// undo the login.
func (c *command) countTools(ctx context.Context, t *target) {
	st, err := c.status(ctx, t)
	switch {
	case err != nil:
		c.say(t.settings.Name + ": the login is there, but the tools of the server are not known: " + err.Error())
	case st.State != upstream.Ready:
		c.say(t.settings.Name + ": the login is there, but the server is not ready: " + st.Problem)
	default:
		c.say(t.settings.Name + ": the server has " + cli.Count(len(st.Entries[mcpwire.Tool]), "tool"))
	}
}

// status starts a server alone and returns what it offers.
func (c *command) status(ctx context.Context, t *target) (upstream.Status, error) {
	alone, err := atURL(t.settings.URL)
	if err != nil {
		return upstream.Status{}, err
	}
	alone.Servers, alone.Secrets = []config.Server{*t.server}, c.config.Secrets
	alone.Servers[0].Uncached, alone.Servers[0].Lazy = true, false
	if t.key.Agent != "" { // what the server offers to it, whatever the policies leave of that
		everything := policy.List{Entries: []policy.Entry{{Text: "*"}}}
		alone.Agent = t.key.Agent
		alone.Rules = &policy.Rules{Agents: map[string]policy.Agent{t.key.Agent: {Servers: everything}}, Default: policy.Flag{On: true}}
	}
	running, err := engine.Check(ctx, alone, c.stderr)
	if err != nil {
		return upstream.Status{}, err
	}
	defer running.Close()
	return engine.Statuses(running.Router, alone.Secrets)[0], nil
}
