package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/report"
	"toolman/cmd/internal/resolve"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/system"
)

func newCheckCommand(f *engine.Flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Start every configured server and report its status",
		Long: `check finds and reads the configuration, starts every server in it, asks it for all it
offers and ends it again. It waits for a server as long as a toolman that serves does, which
start_timeout decides, and shows on standard error how they start.

It prints what each server is and how long its start took, names that collide or that
clients may reject, what tools.lock holds back, what toolsets leave out, patterns that match
nothing, and what the list of active tools costs a model. With [cluster] it joins the
engine, and names the servers that keep state in each replica. Problems are marked with !. The
exit code is 0 without problems, 1 with problems, and 2 if the configuration cannot be used.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return check(cmd.Context(), f, cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.AddTask(cmd)
	return cmd
}

// check starts every server once and prints a report.
func check(ctx context.Context, f *engine.Flags, out io.Writer, asJSON bool) error {
	f.Cluster = true
	c, r, err := f.Check(ctx)
	if err != nil {
		return err
	}
	found := report.New(c, r.Router)
	r.Close()
	found.AddCluster(ctx, c)
	hint := "see what is marked with ! above"
	if asJSON {
		_, err = out.Write(cli.IndentedJSON(found))
		hint = `see "problems"`
	} else {
		err = found.Print(out)
	}
	if system.Closed(err) { // the reader has seen enough
		err = nil
	}
	if err == nil && !found.OK {
		err = cli.Failed(errors.New("check found problems"), hint)
	}
	return err
}

const explainHelp = `explain starts the servers of tools.toml, finds every item with a name, and prints for
each whether a client sees it, whether it is active at start and whether it may be called,
by which rule, and which error a caller gets if not.

The name may be as clients see it (github_create_issue), as the server has it
(create_issue), both together (github:create_issue, mcp__github__create_issue), or a URI.`

func newExplainCommand(f *engine.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "explain NAME",
		Short:   "Say whether a tool, resource or prompt may be used, and which rule says so",
		Long:    explainHelp,
		Example: "  toolman explain --agent reviewer github_create_issue",
		Args:    cli.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return explain(cmd.Context(), f, cmd.OutOrStdout(), args[0])
		},
	}
	f.AddTask(cmd)
	return cmd
}

func explain(ctx context.Context, f *engine.Flags, out io.Writer, name string) error {
	_, r, err := f.Check(ctx)
	if err != nil {
		return err
	}
	all, near, missing := r.Explain(name), r.Similar(name), r.NotReady()
	r.Close()
	for i, x := range all {
		if i > 0 {
			io.WriteString(out, "\n")
		}
		report.PrintExplanation(out, x)
	}
	if len(all) > 0 {
		return nil
	}
	hint := "toolman check says what there is"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(missing) > 0 {
		hint += " Not ready, and so not asked: " + strings.Join(missing, ", ")
	}
	return cli.Failed(errors.New("nothing is called "+sanitize.Line(name)), hint)
}

const resolveHelp = `resolve prints the configuration that applies to an agent, a service and a task: with what
the task rules of tools.toml add, only with the servers that the agent may use, and without
other agents. Loaded without --agent, --service and --task, it gives exactly what the original
gives with them. resolve starts nothing and replaces no ${…}. Paths in its output are relative
to the folder of the original file.`

func newResolveCommand(f *engine.Flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "resolve",
		Short:   "Print the configuration for an agent, a service and a task",
		Long:    resolveHelp,
		Example: `  toolman resolve --agent developer --service users-api --task "add tests" > task.toml`,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := f.Find()
			if err != nil {
				return err
			}
			format, escaped := "toml", escapedTOML
			if asJSON {
				format, escaped = "json", sanitize.JSON
			}
			text, err := resolve.From(at.Source, f.Options(), format)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), escaped(string(text)))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.AddTask(cmd)
	return cmd
}

// escapedTOML returns TOML with the same meaning as text, which is TOML without literal strings and
// comments.
func escapedTOML(text string) string {
	return sanitize.Escape(text, func(r rune) string {
		if r == '\n' || r == '\t' {
			return string(r)
		}
		return fmt.Sprintf(`\U%08x`, r)
	})
}

const schemaHelp = `schema prints the JSON Schema of tools.toml. Editors that validate TOML with JSON Schema
(Taplo, Even Better TOML, Tombi) complete and check a file whose first line names it:

  #:schema tools.schema.json

It covers keys, types and ranges; toolman check covers everything else.`

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of tools.toml, for editors",
		Long:  schemaHelp,
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}
