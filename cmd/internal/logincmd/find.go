package logincmd

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/signin"
	"toolman/mcpwire/sanitize"
)

// A target is a server to log in to.
type target struct {
	server   *config.Server
	settings signin.Server
	key      logins.Key
}

// logout returns the command that ends the login.
func (t *target) logout() string {
	return strings.Replace(setup.LoginCommand(t.server, t.key.Agent), "login", "logout", 1)
}

func isURL(arg string) bool { return strings.Contains(arg, "://") }

// credential returns the login that is in a file, as requests use it.
func (c *command) credential(t *target, f *logins.File) *logins.Login {
	return logins.NewLogin(f, logins.Options{Server: "server " + t.settings.Name, Command: setup.LoginCommand(t.server, t.key.Agent), Guard: t.settings.Guard(), Secret: c.secrets.Add})
}

// find returns the server with a name or a URL.
func (c *command) find(arg string) (*target, error) {
	all := setup.Enabled(c.config)
	var names []string
	for _, s := range all {
		if s.Remote != nil && isURL(arg) && s.Remote.URL == arg || s.Name == arg {
			return c.target(s)
		}
		if s.Remote != nil {
			names = append(names, s.Name)
		}
	}
	for _, s := range all {
		if s.Namespace == arg {
			return c.target(s)
		}
	}
	if isURL(arg) {
		alone, err := atURL(arg)
		if err != nil {
			return nil, err
		}
		alone.Servers[0].Name = "" // as for toolman stdio --connect
		return c.target(&alone.Servers[0])
	}
	hint := "toolman login lists the servers at a URL; a server that tools.toml does not have is named by its URL"
	return nil, cli.Usage(fmt.Errorf("%s has no server %q", c.config.Path, arg), cli.DidYouMean(arg, names, "", hint))
}

// atURL returns a configuration with the server at a URL alone.
func atURL(text string) (*config.Config, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return nil, cli.Usage(errors.New("the URL is not one of https or http with a host"), "write the URL of the server's MCP endpoint")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	server := map[string]any{"namespace": "server", "url": strings.ReplaceAll(text, "$", "%24"), "cache": false}
	block := cli.JSON(map[string]any{"servers": []any{server}})
	return config.LoadFrom(source.Source{Path: "the command line", Text: block, Format: "json", Dir: dir}, config.Options{})
}

// checkAgent returns an error if the configuration names agents, and not this one: the login would
// be nobody's. A JWT may name others, if there are no policies.
func (c *command) checkAgent() error {
	var names []string
	if c.config.Rules != nil {
		names = slices.Collect(maps.Keys(c.config.Rules.Agents))
	}
	if len(names) == 0 && c.config.HTTP.JWT == nil {
		for _, token := range c.config.HTTP.Tokens {
			names = append(names, token.Agent)
		}
	}
	if c.agent == "" || len(names) == 0 || slices.Contains(names, c.agent) {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return cli.Usage(fmt.Errorf("%s has no agent %q", c.config.Path, c.agent),
		cli.DidYouMean(c.agent, names, "", "the agents are "+sanitize.Line(strings.Join(names, ", "))))
}

// target returns what a login to a server needs.
func (c *command) target(s *config.Server) (*target, error) {
	name := setup.ShownName(s)
	switch {
	case s.Missing != nil:
		return nil, cli.Usage(fmt.Errorf("server %s: %s", name, s.Missing[0].String()), "set what it refers to")
	case s.Remote == nil:
		return nil, cli.Usage(fmt.Errorf("server %s has no url, so there is no login to it", name), "toolman login lists the servers at a URL")
	case !s.Remote.TakesLogin():
		return nil, cli.Usage(fmt.Errorf("server %s has credentials in the configuration: in headers, oauth or the url", name), "take them out to log in instead")
	}
	perAgent := s.Remote.OAuth != nil && s.Remote.OAuth.PerAgent
	switch {
	case perAgent && c.agent == "":
		return nil, cli.Usage(fmt.Errorf("each agent has a login of its own to server %s (per_agent)", name), "add --agent NAME")
	case !perAgent && c.agent != "":
		return nil, cli.Usage(fmt.Errorf("all agents share one login to server %s", name), "leave --agent out, or set oauth = { per_agent = true } for the server")
	}
	return &target{server: s, key: setup.LoginKey(s, c.agent), settings: setup.SigninServer(s)}, nil
}
