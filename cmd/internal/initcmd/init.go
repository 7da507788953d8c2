package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/importer"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/toolsfile"
	"toolman/mcpwire/sanitize"
)

const initHelp = `init puts the MCP servers of all your clients behind toolman:

  1. It finds the servers that the clients on this machine and in this project have.
  2. It starts each of them once, and shows its tools and what they cost a model.
  3. It writes them into tools.toml: those of your own files into ~/.config/toolman, those of
     a project's files into the project. Variables are translated.
  4. It registers toolman in the files of the clients, in the place of these servers.

It asks before it changes anything, and --dry-run prints the difference only. A server that
does not start stays where it is. For one that needs a login, init says how toolman gets it:
the logins of clients are theirs. Secrets that a client has in clear text stay in that
client's file, as variables for toolman; --secrets file moves them into private files.

"toolman uninstall --all" undoes all of it, byte for byte.`

// A setupRun is one run of init.
type setupRun struct {
	choices
	scope string
	only  []string // clients

	f      *engine.Flags
	place  clients.Place
	out    io.Writer
	asker  *asker
	plans  []*importer.Plan
	trials map[*importer.Server]trial
}

func newInit(f *engine.Flags) *cobra.Command {
	r := &setupRun{f: f, trials: map[*importer.Server]trial{}}
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Put the servers of all your MCP clients behind toolman",
		Long:    initHelp,
		Example: "  toolman init --dry-run\n  toolman init --yes --client claude-code --client cursor",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := r.check(); err != nil {
				return err
			}
			if r.place, err = clients.Here(); err != nil {
				return err
			}
			r.out, r.asker = cmd.OutOrStdout(), newAsker(f.Stdin, f.Stderr, r.yes || r.dryRun)
			return r.run(cmd.Context())
		},
	}
	r.add(cmd)
	cmd.Flags().StringVar(&r.scope, "scope", "all", "which files of clients: user, project or all")
	cmd.Flags().StringArrayVar(&r.only, "client", nil, "only this `client`; several times for several")
	return cmd
}

func (r *setupRun) check() error {
	if !slices.Contains([]string{"all", "user", "project"}, r.scope) {
		return cli.Usage(fmt.Errorf("--scope cannot be %q", r.scope), "write user, project or all")
	}
	for i, name := range r.only {
		c, err := clients.ByName(name)
		if err != nil {
			return err
		}
		r.only[i] = c.ID
	}
	return r.choices.check()
}

func (r *setupRun) run(ctx context.Context) error {
	if err := r.collect(ctx); err != nil {
		return err
	}
	if !r.hasServers() {
		return r.nothing(ctx)
	}
	for _, p := range r.plans {
		trials, err := probe(ctx, p, !r.dryRun, r.f.Stderr)
		if err != nil {
			return err
		}
		for s, t := range trials {
			r.trials[s] = t
		}
	}
	r.printServers()
	r.leaveFailed()
	printLeftOut(r.out, r.plans...)
	printNotes(r.out, r.plans...)
	if !r.hasServers() {
		fmt.Fprintln(r.out, "\nNothing is to be done: none of these servers works.")
		return nil
	}
	do, err := r.planChanges()
	if err != nil {
		return err
	}
	return r.decide(ctx, do)
}

// hasServers reports whether there are servers to put behind toolman.
func (r *setupRun) hasServers() bool {
	return slices.ContainsFunc(r.plans, func(p *importer.Plan) bool { return len(p.Servers) > 0 })
}

// decide shows what will change, asks, and does it.
func (r *setupRun) decide(ctx context.Context, do *plan) error {
	if do.isNone() {
		fmt.Fprintln(r.out, "\nNothing is to be done: toolman is registered, and tools.toml has all of these servers.")
		return nil
	}
	do.print(r.out)
	switch {
	case r.dryRun:
		_, err := io.WriteString(r.out, do.diff())
		return err
	case !r.yes && !cli.IsTerminal(r.f.Stdin):
		return cli.Failed(errors.New("nothing is changed: there is no terminal to ask on"), "--yes does it, --dry-run prints the difference")
	}
	if answer, err := r.asker.ask(ctx, "\nGo on?", "yes", "no"); err != nil || answer == "no" {
		if err == nil {
			fmt.Fprintln(r.out, "Nothing is changed.")
		}
		return err
	}
	if err := do.Apply(ctx); err != nil {
		return err
	}
	do.printDone(r.out)
	return nil
}

// files returns the files of the clients that are wanted.
func (r *setupRun) files(scopes ...clients.Scope) (files []clients.File) {
	for _, c := range clients.All() {
		if len(r.only) > 0 && !slices.Contains(r.only, c.ID) {
			continue
		}
		for _, f := range c.Files(r.place) {
			if slices.Contains(scopes, f.Scope) && f.Exists() {
				files = append(files, f)
			}
		}
	}
	return files
}

// collect plans the servers of the user's files and those of the project's.
func (r *setupRun) collect(ctx context.Context) error {
	add := func(path string, files []clients.File) error {
		if path == "" || len(files) == 0 {
			return nil
		}
		target, err := toolsfile.Open(path)
		if err != nil {
			return err
		}
		p, err := r.plan(ctx, r.asker, r.place, target, files)
		if err == nil {
			r.plans = append(r.plans, p)
		}
		return err
	}
	if r.scope != "project" {
		if err := add(r.userFile(), r.files(clients.User)); err != nil {
			return err
		}
	}
	if r.scope != "user" && r.place.Project != "" {
		return add(filepath.Join(r.place.Project, "tools.toml"), r.files(clients.Project, clients.Local))
	}
	return nil
}

// userFile returns the path of the user's own tools.toml: that which --config names, or the usual.
func (r *setupRun) userFile() string {
	if r.f.Config != "" {
		path, err := filepath.Abs(r.f.Config)
		if err == nil {
			return path
		}
	}
	return setup.UserFile(os.Getenv)
}

// printServers prints what was found, and what it costs a model.
func (r *setupRun) printServers() {
	rows := [][]string{{"SERVER", "FROM", "TOOLS", "TOKENS", "STARTED WITH"}}
	tools, tokens, servers := 0, 0, 0
	for _, p := range r.plans {
		for _, s := range p.Servers {
			t := r.trials[s]
			started := s.Summary()
			switch {
			case t.problem != "":
				started = "! " + sanitize.First(sanitize.Line(t.problem), 100)
			case t.login != "":
				started += "  (needs a login)"
			case s.Known:
				started += "  (is in tools.toml already)"
			}
			rows = append(rows, []string{s.Namespace, s.From(), t.count(t.tools), t.count(t.tokens()), started})
			if t.tried && t.problem == "" && t.login == "" {
				tools, tokens, servers = tools+t.tools, tokens+t.tokens(), servers+1
			}
		}
	}
	printRows(r.out, rows, 2, 3)
	if servers > 0 {
		all := trial{tried: true}
		fmt.Fprintf(r.out, "\n%s: about %s tokens in every request of a client that has them all.\nBehind toolman the model gets one tool with a list of their names, and activates what it needs.\n",
			cli.Count(tools, "tool"), all.count(tokens))
	}
}

// leaveFailed leaves out the servers that did not start: they stay in their clients.
func (r *setupRun) leaveFailed() {
	for _, p := range r.plans {
		for _, s := range slices.Clone(p.Servers) {
			if problem := r.trials[s].problem; problem != "" {
				p.Leave(s, "it does not start with toolman: "+sanitize.Line(problem))
			}
		}
	}
}

// nothing writes a tools.toml with the demo server, for a user without servers.
func (r *setupRun) nothing(ctx context.Context) error {
	printLeftOut(r.out, r.plans...)
	var there []string
	for _, p := range r.plans {
		for _, e := range p.Toolman {
			if !slices.Contains(there, e.File.Client.Title) {
				there = append(there, e.File.Client.Title)
			}
		}
	}
	path := filepath.Join(r.place.Project, "tools.toml")
	if r.place.Project == "" || r.scope == "user" {
		path = r.userFile()
	}
	target, err := toolsfile.Open(path)
	if err != nil {
		return err
	}
	if target.Text != nil || len(there) > 0 {
		if len(there) > 0 {
			fmt.Fprintf(r.out, "No further servers found: toolman is registered in %s.\n", strings.Join(there, ", "))
		} else {
			fmt.Fprintf(r.out, "No servers found in clients. %s is there already; toolman check starts its servers.\n", path)
		}
		r.suggestInstall("")
		return nil
	}
	fmt.Fprintln(r.out, "No servers found in MCP clients. A tools.toml with a demo server is a place to start:")
	do, err := newPlan(r.place)
	if err != nil {
		return err
	}
	s := demoServer(do.program.Command)
	target.Text = toolsfile.New(s.Namespace)
	text, err := target.Append(s)
	if err != nil {
		return err
	}
	target.Text = nil
	if err := do.write(target, text, 1); err != nil {
		return err
	}
	if err := r.decide(ctx, do); err == nil {
		r.suggestInstall(path)
		return nil
	}
	return err
}

// suggestInstall names the clients of this machine in which toolman could be registered.
func (r *setupRun) suggestInstall(config string) {
	var ids []string
	for _, c := range clients.All() {
		if c.Writable() && c.Detected(r.place) {
			ids = append(ids, c.ID)
		}
	}
	if config != "" && config != setup.UserFile(os.Getenv) {
		config = " --config " + config
	} else {
		config = ""
	}
	if len(ids) > 0 {
		fmt.Fprintf(r.out, "Register toolman in a client: toolman install %s%s\n", strings.Join(ids, " "), config)
	} else {
		fmt.Fprintf(r.out, "Register toolman in a client: toolman install CLIENT%s (toolman install --help names them)\n", config)
	}
}
