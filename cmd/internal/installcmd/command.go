package installcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
	"toolman/cmd/internal/setup"
)

// options are the flags of install and snippet.
type options struct {
	flags  *setup.Flags
	scope  string
	name   string
	demo   bool
	dryRun bool
}

// Commands returns install, uninstall and snippet.
func Commands(f *setup.Flags) []*cobra.Command {
	return []*cobra.Command{newInstall(f), newUninstall(), newSnippet(f)}
}

const installHelp = `install adds toolman to the configuration of MCP clients, in the file that each client
reads. The entry starts toolman with the tools.toml that is in use here, or that --config
names, by its absolute path. All else in the file stays as it is: comments, order,
indentation, other servers.

It adds toolman beside the servers that the client has. "toolman init" puts those behind
toolman as well.

--scope project writes the project's file, in the root of its repository, instead of the
user's. --demo registers two built-in servers, and needs no tools.toml.

"toolman uninstall" undoes it byte for byte.`

func newInstall(f *setup.Flags) *cobra.Command {
	o := options{flags: f}
	cmd := &cobra.Command{
		Use:     "install CLIENT...",
		Short:   "Register toolman in MCP clients",
		Long:    installHelp + "\n\n" + clientList(),
		Example: "  toolman install claude-code codex\n  toolman install cursor --scope project --dry-run",
		Args:    cli.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.install(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
		ValidArgsFunction: completeClients,
	}
	o.add(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print what would change, and change nothing")
	return cmd
}

func (o *options) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.scope, "scope", "user", "whose `file`: user or project")
	cmd.Flags().StringVar(&o.name, "name", "", "`name` of the entry (default toolman)")
	cmd.Flags().BoolVar(&o.demo, "demo", false, "start the servers of toolman demo instead of those of a tools.toml")
}

// clientList returns the clients for help texts.
func clientList() string {
	var b strings.Builder
	b.WriteString("The clients:\n")
	for _, c := range clients.All() {
		fmt.Fprintf(&b, "  %-15s %s\n", c.ID, c.Title)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func completeClients(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	for _, c := range clients.All() {
		ids = append(ids, c.ID)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// clientsOf returns the clients of arguments, each once.
func clientsOf(names []string) ([]*clients.Client, error) {
	var all []*clients.Client
	for _, name := range names {
		c, err := clients.ByName(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(o *clients.Client) bool { return o.ID == c.ID }) {
			all = append(all, c)
		}
	}
	return all, nil
}

// A setting is what toolman's entry depends on, besides the client.
type setting struct {
	scope     clients.Scope
	place     clients.Place
	program   Program
	args      []string // of toolman
	variables []string // that its configuration refers to
}

// here returns the setting of this command.
func (o *options) here() (s setting, err error) {
	if s.scope = clients.Scope(o.scope); s.scope != clients.User && s.scope != clients.Project {
		return s, cli.Usage(fmt.Errorf("--scope is user or project, not %q", o.scope), "write --scope user")
	}
	if s.args, s.variables, err = o.arguments(); err != nil {
		return s, err
	}
	if s.place, err = clients.Here(); err != nil {
		return s, err
	}
	s.program, err = ThisProgram()
	return s, err
}

// toolman returns how a client starts toolman, by an entry of this name.
func (s setting) toolman(c *clients.Client, name string) clients.Toolman {
	t := s.program.For(c, s.args...)
	t.Name, t.EnvNames = name, s.variables
	return t
}

// arguments returns toolman's own arguments, and the variables that its configuration refers to.
func (o *options) arguments() (args, names []string, err error) {
	if o.demo {
		if o.flags.Config != "" {
			return nil, nil, cli.Usage(errors.New("--demo takes no --config"), "leave one of the two out")
		}
		return []string{"demo", "--serve"}, nil, nil
	}
	at, err := o.flags.Find()
	if err != nil {
		return nil, nil, err
	}
	if at.Virtual() {
		return nil, nil, cli.Usage(errors.New("the configuration is in no file that a client's entry could name"), "write it to a file, and name that with --config")
	}
	doc, err := at.Read()
	if err != nil {
		return nil, nil, err
	}
	return []string{"--config", at.Path}, Variables(doc.Root), nil
}

// Variables returns the variables that a configuration refers to and that clients may keep from
// toolman, sorted. Variables such as HOME are not among them: all have those.
func Variables(root source.Node) []string {
	var names []string
	for name := range reference.VariablesIn(root) {
		if !reference.Ordinary(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (o *options) install(ctx context.Context, out, errOut io.Writer, names []string) error {
	for attempt := 0; ; attempt++ {
		err := o.installOnce(ctx, out, errOut, names)
		// Two installs at the same time both succeed: the second plans again.
		if !errors.Is(err, filechange.ErrChanged) || attempt == 5 {
			return err
		}
	}
}

func (o *options) installOnce(ctx context.Context, out, errOut io.Writer, names []string) error {
	all, err := clientsOf(names)
	if err != nil {
		return err
	}
	here, err := o.here()
	if err != nil {
		return err
	}
	plan, err := NewPlan()
	if err != nil {
		return err
	}
	var lines []string
	for _, c := range all {
		f, err := c.Target(here.place, here.scope)
		if err != nil {
			return err
		}
		before := len(plan.Changes())
		name, err := plan.Register(f, here.toolman(c, o.name), here.place)
		if err != nil {
			return err
		}
		verb := "registered in"
		if len(plan.Changes()) == before {
			verb = "is registered already in"
		}
		if o.dryRun && verb == "registered in" {
			verb = "would be registered in"
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s %s", c.ID, name, verb, f.Path))
		for _, note := range c.Notes(here.scope) {
			lines = append(lines, "  note: "+note)
		}
	}
	if o.dryRun {
		fmt.Fprint(out, plan.Diff())
		fmt.Fprintln(errOut, strings.Join(lines, "\n"))
		return nil
	}
	if err := plan.Apply(ctx); err != nil {
		return err
	}
	fmt.Fprintln(out, strings.Join(lines, "\n"))
	return nil
}
