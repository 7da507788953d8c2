package doctor

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/diagnosis"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/report"
	"toolman/cmd/internal/setup"
	"toolman/mcpwire/sanitize"
	"toolman/router/upstream"
)

const help = `doctor starts the servers of tools.toml as toolman check does, and looks at the MCP clients on
this machine: where each has its configuration, whether toolman is registered there so that it
works, and what is known of the client's version. For each problem it prints a name, which
"toolman help doctor" explains, and the command or the line of the configuration that helps.

With NAMES it looks only at these servers and clients. It asks clients that are in PATH for
their version and starts nothing else of theirs.

The exit code is 0 without problems, 1 with problems, and 2 if the configuration cannot be
used; clients are reported then, too.`

// New makes the command.
func New(f *engine.Flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [SERVER | CLIENT]...",
		Short: "Find out what is wrong with servers and clients, and what corrects it",
		Long:  help,
		Example: `  toolman doctor
  toolman doctor github codex`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), f, cmd.OutOrStdout(), args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.AddTask(cmd)
	return cmd
}

// A result is what doctor found. It is printed as JSON under these names.
type result struct {
	OK       bool                `json:"ok"`
	Version  string              `json:"version"` // of this toolman
	Program  string              `json:"program"` // its path
	Config   string              `json:"config,omitempty"`
	Why      string              `json:"why,omitempty"` // why this file was chosen
	Servers  []report.Server     `json:"servers"`
	Clients  []client            `json:"clients"`
	Findings []diagnosis.Finding `json:"findings"` // problems first
}

// run prints what is wrong.
func run(ctx context.Context, f *engine.Flags, out io.Writer, names []string, asJSON bool) error {
	place, err := clients.Here()
	if err != nil {
		return err
	}
	res := &result{Version: setup.Version(), Servers: []report.Server{}, Clients: []client{}, Findings: []diagnosis.Finding{}}
	res.Program, _ = os.Executable()
	f.Cluster = true
	c, needs, with, broken := load(f, place, res.Program)
	chosen, err := choose(names, c)
	if err != nil {
		return err
	}
	if broken != nil {
		res.unusable(broken)
	} else {
		res.Config, res.Why = c.Path, c.Why
		if chosen.withServers {
			if err := res.checkServers(ctx, f, c, &chosen); err != nil {
				return err
			}
			res.Findings = with.judge(res.Findings, chosen.of(needs), place, c.Path)
		}
	}
	looker{ctx: ctx, place: place, config: c, program: res.Program, version: res.Version}.look(res, &chosen)
	diagnosis.Sort(res.Findings)
	res.OK = !slices.ContainsFunc(res.Findings, func(f diagnosis.Finding) bool { return f.Level == diagnosis.Problem })
	if asJSON {
		_, err = out.Write(cli.IndentedJSON(res))
	} else {
		err = res.print(out)
	}
	switch {
	case err != nil && !errors.Is(err, syscall.EPIPE):
		return err
	case broken != nil:
		return cli.Usage(errors.New("the configuration cannot be used"), "correct it first: servers are not checked without it")
	case !res.OK:
		return cli.Failed(errors.New("doctor found problems"), `toolman help doctor explains their names`)
	}
	return nil
}

// unusable reports a configuration that cannot be loaded.
func (res *result) unusable(err error) {
	id, fix := "configuration", "correct it as it says"
	if strings.Contains(err.Error(), "no tools.toml found") {
		id, fix = "no-configuration", "toolman init makes one from the servers of your clients; --config names another"
	}
	if hint := cli.Hint(err); hint != "" {
		fix = hint
	}
	text, _, _ := strings.Cut(err.Error(), "; name one with --config")
	res.Findings = append(res.Findings, diagnosis.Finding{ID: id, Level: diagnosis.Problem, Summary: sanitize.Lines(text), Fix: sanitize.Line(fix)})
}

// A choice is what is looked at.
type choice struct {
	servers     []string          // nil: all
	clients     []*clients.Client // nil: all that are on this machine
	withServers bool
	withClients bool
}

// choose finds the servers and clients with these names. c is nil if there is no configuration.
func choose(names []string, c *config.Config) (choice, error) {
	if len(names) == 0 {
		return choice{withServers: true, withClients: true}, nil
	}
	var chosen choice
	var known []string
	if c != nil {
		for _, s := range setup.Enabled(c) {
			known = append(known, s.Name)
		}
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			chosen.servers, chosen.withServers = append(chosen.servers, name), true
			continue
		}
		one, err := clients.ByName(name)
		if err != nil {
			var ids []string
			for _, one := range clients.All() {
				ids = append(ids, one.ID)
			}
			return chosen, cli.Usage(errors.New("there is no server and no client "+sanitize.Quoted(name, 60)),
				cli.DidYouMean(name, append(known, ids...), "", "the clients are "+strings.Join(ids, ", ")))
		}
		chosen.clients, chosen.withClients = append(chosen.clients, one), true
	}
	return chosen, nil
}

// of returns what the chosen servers need.
func (c *choice) of(needs []need) []need {
	return slices.DeleteFunc(slices.Clone(needs), func(n need) bool { return c.servers != nil && !slices.Contains(c.servers, n.server.Name) })
}

// checkServers starts the servers and adds what is wrong with them.
func (res *result) checkServers(ctx context.Context, f *engine.Flags, c *config.Config, chosen *choice) error {
	if chosen.servers != nil {
		some := *c
		some.Servers = slices.DeleteFunc(slices.Clone(c.Servers), func(s config.Server) bool { return !slices.Contains(chosen.servers, s.Name) })
		c = &some
	}
	servers, err := engine.Check(ctx, c, f.Stderr)
	if err != nil {
		return err
	}
	found := report.New(c, servers.Router)
	servers.Close()
	if chosen.servers == nil {
		found.AddCluster(ctx, c)
	}
	res.Servers = append(res.Servers, found.Servers...)
	for _, one := range found.Findings {
		if chosen.servers == nil || one.Server != "" {
			res.Findings = append(res.Findings, one)
		}
	}
	return nil
}

// works reports whether a server is as it should be.
func works(s *report.Server) bool {
	return s.State == upstream.Ready.String() || s.State == upstream.PerSession.String()
}
