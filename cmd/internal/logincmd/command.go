package logincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/signin"
	"toolman/jsonrpc/trace/redact"
	"toolman/mcpwire/sanitize"
)

// New returns toolman login and toolman logout.
func New(f *setup.Flags, stderr *os.File) []*cobra.Command {
	return []*cobra.Command{newLogin(f, stderr), newLogout(f, stderr)}
}

const loginHelp = `login logs you in to a remote server that wants it, by OAuth in a browser. Every toolman of yours,
also one that runs already, then uses the login and renews it by itself.

NAME is the name of a server in tools.toml, URL that of any server. Without either, login says for
each server at a URL whether it wants a login, and exits with 1 if one does.

With --no-browser it only prints the URL to open, as for SSH and containers: on a terminal you can
then paste the URL that the browser ends at, even if it cannot load that page. With --device you
approve the login on another device, where the service has that.`

const loginExample = `  toolman login                       which servers want a login
  toolman login linear                in the browser
  toolman login linear --no-browser   on a machine without one
  toolman login linear --scope read   for these scopes alone`

// A command is the command line of login or logout.
type command struct {
	flags     *setup.Flags
	stderr    *os.File
	agent     string
	noBrowser bool
	device    bool
	all       bool
	scopes    []string
	timeout   time.Duration

	in      io.Reader
	out     io.Writer
	config  *config.Config
	folder  logins.Folder
	secrets *redact.Scrubber
}

func newLogin(f *setup.Flags, stderr *os.File) *cobra.Command {
	c := &command{flags: f, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "login [NAME | URL]",
		Short:   "Log in to a remote server, or list which servers want a login",
		Long:    loginHelp,
		Example: loginExample,
		Args:    cli.Args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.prepare(cmd, args); err != nil {
				return err
			}
			if len(args) == 0 {
				if flag := ofOneServer(cmd); flag != "" {
					return cli.Usage(fmt.Errorf("--%s is for the login to one server", flag), "write toolman login NAME --"+flag)
				}
				return c.list(cmd.Context())
			}
			return c.login(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&c.noBrowser, "no-browser", false, "print the URL to open, and open no browser")
	cmd.Flags().BoolVar(&c.device, "device", false, "approve the login on another device, by a code")
	cmd.Flags().StringArrayVar(&c.scopes, "scope", nil, "ask for this `scope`; several times for several (default: what the server asks for)")
	cmd.Flags().StringVar(&c.agent, "agent", "", "`name` of the agent whose login it is, for a server with per_agent")
	cmd.Flags().DurationVar(&c.timeout, "timeout", 5*time.Minute, "how long to wait until the login is approved")
	return cmd
}

// ofOneServer returns a flag that is set and means nothing to the list of all servers, "" for none.
func ofOneServer(cmd *cobra.Command) string {
	for _, name := range []string{"no-browser", "device", "scope"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

const logoutHelp = `logout ends a login: it tells the authorization server that the tokens are not used any more, where
that can be told, and removes the login and the registration of toolman there. A toolman that runs
notices at its next call to the server.`

func newLogout(f *setup.Flags, stderr *os.File) *cobra.Command {
	c := &command{flags: f, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "logout NAME | URL | --all",
		Short: "Log out of a remote server",
		Long:  logoutHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args)+btoi(c.all) != 1 {
				return cli.Usage(errors.New("toolman logout takes the name of a server, or --all"), "toolman login lists the servers with a login")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.prepare(cmd, args); err != nil {
				return err
			}
			if c.all {
				return c.logoutAll(cmd.Context())
			}
			return c.logout(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&c.all, "all", false, "end all logins, also those of other configurations")
	cmd.Flags().StringVar(&c.agent, "agent", "", "`name` of the agent whose login it is, for a server with per_agent")
	return cmd
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// prepare reads the configuration, which only names need.
func (c *command) prepare(cmd *cobra.Command, args []string) error {
	c.in, c.out = cmd.InOrStdin(), cmd.OutOrStdout()
	if c.timeout <= 0 && cmd.Flags().Lookup("timeout") != nil {
		return cli.Usage(fmt.Errorf("--timeout %v is no time to wait", c.timeout), "write --timeout 5m, or leave it out")
	}
	for _, s := range c.scopes {
		if !signin.IsScope(s) {
			return cli.Usage(fmt.Errorf("--scope %q is not the name of a scope", s), "write --scope once for each scope")
		}
	}
	var err error
	if c.folder, err = logins.Open(); err != nil {
		return err
	}
	c.flags.HTTP = true // names of agents, whether they are served or not
	c.config, err = c.flags.Load()
	if err != nil && (c.all || len(args) == 1 && isURL(args[0])) && c.flags.Config == "" {
		c.config, err = &config.Config{}, nil // none is needed
	}
	if err == nil {
		c.secrets = redact.NewScrubber(c.config.Secrets)
	}
	return err
}

// say tells the user something, without secrets.
func (c *command) say(text string) {
	fmt.Fprintln(c.stderr, sanitize.Line(c.secrets.Text(text)))
}

// flow returns a login to a server.
func (c *command) flow(t *target) *signin.Flow {
	f := &signin.Flow{
		Server: t.settings, File: c.folder.File(t.key), Version: setup.Version(), Requested: c.scopes, Device: c.device, Timeout: c.timeout,
		Say: c.say, Secret: c.secrets.Add,
		Print: func(at string) { fmt.Fprintln(c.out, at) },
	}
	f.Credential = c.credential(t, f.File)
	return f
}

// login logs in to a server.
func (c *command) login(ctx context.Context, arg string) error {
	t, err := c.find(arg)
	if err != nil {
		return err
	}
	if err := c.checkAgent(); err != nil {
		return err
	}
	f := c.flow(t)
	if !c.noBrowser {
		f.Open = open
	}
	if cli.IsTerminal(c.stdin()) {
		f.Paste = c.in
	}
	out, err := f.Run(ctx)
	if err != nil {
		return err
	}
	if warning := f.File.Warning(); warning != "" {
		c.say(t.settings.Name + ": " + warning)
	}
	switch out.State {
	case signin.NotWanted:
		c.say(t.settings.Name + ": the server wants no login")
		return nil
	case signin.Already:
		c.say(t.settings.Name + ": logged in already at " + out.Record.Describe() + "; for another login: " + t.logout())
		return nil
	}
	c.say(t.settings.Name + ": logged in at " + out.Record.Describe())
	c.countTools(ctx, t)
	return nil
}

// stdin returns standard input as a file, if it is one.
func (c *command) stdin() io.Writer {
	if f, ok := c.in.(*os.File); ok {
		return f
	}
	return nil
}
