package initcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/importer"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/toolsfile"
)

const importHelp = `import appends the servers of MCP clients to the tools.toml in use, or to a new one in the
working directory. It reads all files of a client, or one FILE in the form of any client.
It changes no file of a client: toolman init also puts toolman there in place of the servers.

Variables are translated. A server that several clients have is written once. Disabled servers
and toolman itself are left out, and so is what toolman cannot have; import says why.

A secret that the client's file has in clear text becomes a reference to a variable, which
you set. With --secrets file it is written to a file that only you can read, and becomes a
reference to that.`

// choices are the flags that init and import have in common.
type choices struct {
	yes, dryRun bool
	secrets     string
}

func (c *choices) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.yes, "yes", false, "ask nothing, and take the defaults")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "print what would change, and change nothing")
	cmd.Flags().StringVar(&c.secrets, "secrets", "", "where secrets of clients go: keep (where they are) or file (into private files)")
}

// check checks the flags.
func (c *choices) check() error {
	switch c.secrets {
	case "", "keep", "file":
		return nil
	}
	return cli.Usage(fmt.Errorf("--secrets cannot be %q", c.secrets), "write keep or file")
}

// secretsFolder returns where files with secrets are; "" keeps them where they are.
func (c *choices) secretsFolder() (string, error) {
	if c.secrets != "file" {
		return "", nil
	}
	dir := setup.ConfigFolder(os.Getenv)
	if dir == "" {
		return "", cli.Failed(fmt.Errorf("there is no home directory for files with secrets"), "set HOME, or write --secrets keep")
	}
	return importer.SecretsFolder(dir), nil
}

// Commands returns toolman init and toolman import.
func Commands(f *engine.Flags) []*cobra.Command { return []*cobra.Command{newInit(f), newImport(f)} }

func newImport(f *engine.Flags) *cobra.Command {
	c := &choices{}
	cmd := &cobra.Command{
		Use:     "import FILE|CLIENT...",
		Short:   "Append the servers of MCP clients to tools.toml",
		Long:    importHelp,
		Example: "  toolman import claude-desktop\n  toolman import .vscode/mcp.json --dry-run",
		Args:    cli.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			place, err := clients.Here()
			if err != nil {
				return err
			}
			return c.importAll(cmd.Context(), f, place, args, cmd.OutOrStdout())
		},
	}
	c.add(cmd)
	return cmd
}

func (c *choices) importAll(ctx context.Context, f *engine.Flags, place clients.Place, args []string, out io.Writer) error {
	var files []clients.File
	for _, arg := range args {
		of, err := sourceOf(place, arg)
		if err != nil {
			return err
		}
		files = append(files, of...)
	}
	path, err := f.FindToEdit()
	if err != nil {
		return err
	}
	target, err := toolsfile.Open(path)
	if err != nil {
		return err
	}
	a := newAsker(f.Stdin, f.Stderr, c.yes || c.dryRun)
	plan, err := c.plan(ctx, a, place, target, files)
	if err != nil {
		return err
	}
	c.printImport(out, plan)
	if len(plan.New()) == 0 {
		fmt.Fprintf(out, "%s stays as it is.\n", target.Path)
		return nil
	}
	do, err := newPlan(place)
	if err != nil {
		return err
	}
	if _, err := do.tools(plan); err != nil {
		return err
	}
	if c.dryRun {
		_, err = io.WriteString(out, do.diff())
		return err
	}
	if answer, err := a.ask(ctx, fmt.Sprintf("\nAppend %s to %s?", cli.Count(len(plan.New()), "server"), target.Path), "yes", "no"); err != nil || answer == "no" {
		return err
	}
	if err := do.Apply(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s has them now. toolman check starts them.\n", target.Path)
	c.printUnset(out, plan)
	return nil
}

// plan collects the servers. If clients have secrets in clear text, it asks where they go.
func (c *choices) plan(ctx context.Context, a *asker, place clients.Place, target toolsfile.File, files []clients.File) (*importer.Plan, error) {
	dir, err := c.secretsFolder()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	plan, err := importer.Collect(importer.Options{Place: place, Secrets: dir, Program: program}, target, files)
	if err != nil || c.secrets != "" {
		return plan, err
	}
	names := plan.SecretNames()
	if len(names) == 0 {
		return plan, nil
	}
	fmt.Fprintf(a.out, "The clients' files have secrets in clear text, which do not get into tools.toml: %s.\n", strings.Join(names, ", "))
	answer, err := a.ask(ctx, "Keep them where they are (k), or write them to private files that all clients can use (f)?", "keep", "file")
	if err != nil {
		return nil, err
	}
	if c.secrets = answer; answer == "keep" {
		return plan, nil
	}
	return c.plan(ctx, a, place, target, files)
}

func (c *choices) printImport(out io.Writer, plan *importer.Plan) {
	var rows [][]string
	for _, s := range plan.Servers {
		mark := "+"
		if s.Known {
			mark = "="
		}
		rows = append(rows, []string{mark + " " + s.Namespace, s.From(), s.Summary()})
	}
	if len(rows) > 0 {
		printRows(out, rows)
	}
	printLeftOut(out, plan)
	printNotes(out, plan)
}

// printUnset names the variables that have to be set.
func (c *choices) printUnset(out io.Writer, plan *importer.Plan) {
	for _, s := range plan.New() {
		for _, name := range s.Needs() {
			if _, ok := os.LookupEnv(name); !ok {
				fmt.Fprintf(out, "Set %s where toolman is started: server %s needs it%s.\n", name, s.Namespace, s.Where(name))
			}
		}
	}
}
