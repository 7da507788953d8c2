package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/report"
	"toolman/mcpwire/sanitize"
)

func newCheckCommand(f *flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Start every configured server and report its status",
		Long: `check finds and reads the configuration, starts every server in it, asks it for all it
offers and ends it again. It waits for a server as long as a toolman that serves does, six
times its start_timeout, and shows on standard error how they start.

It prints what each server is and how long its start took, names that collide or that
clients may reject, what tools.lock holds back, what toolsets leave out, patterns that match
nothing, and what the list of active tools costs a model. Problems are marked with !. The
exit code is 0 without problems, 1 with problems, and 2 if the configuration cannot be used.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return check(cmd.Context(), f, cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.config.AddTask(cmd)
	return cmd
}

// check starts every server once and prints a report.
func check(ctx context.Context, f *flags, out io.Writer, asJSON bool) error {
	c, at, r, err := f.check(ctx)
	if err != nil {
		return err
	}
	found := report.New(at, c, r.Router)
	r.Close()
	hint := "see what is marked with ! above"
	if asJSON {
		_, err = out.Write(cli.IndentedJSON(found))
		hint = `see "problems"`
	} else {
		err = found.Print(out)
	}
	if errors.Is(err, syscall.EPIPE) { // the reader has seen enough
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

func newExplainCommand(f *flags) *cobra.Command {
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
	f.config.AddTask(cmd)
	return cmd
}

func explain(ctx context.Context, f *flags, out io.Writer, name string) error {
	_, _, r, err := f.check(ctx)
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
