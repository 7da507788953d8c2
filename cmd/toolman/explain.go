package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"toolman/mcpwire/sanitize"
	"toolman/router"
)

const explainHelp = `explain starts the servers of tools.toml, looks for whatever has the name, and says for
each item whether a client sees it, whether it is active at start and whether it may be
called, by which rule, and what a caller is told when not.

The name may be as clients see it (github_create_issue), as the server has it
(create_issue), both together (github:create_issue, mcp__github__create_issue), or a URI.`

func newExplainCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "explain NAME",
		Short:   "Say whether a tool, resource or prompt may be used, and which rule says so",
		Long:    explainHelp,
		Example: "  toolman explain --agent reviewer github_create_issue",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("explain needs one name, not %d", len(args)), "toolman check and toolman://catalog show the names there are")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.explain(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	a.addTaskFlags(cmd)
	return cmd
}

func (a *app) explain(ctx context.Context, out io.Writer, name string) error {
	c, _, err := a.load()
	if err != nil {
		return err
	}
	r, err := a.startChecked(ctx, c)
	if err != nil {
		return err
	}
	all, near, missing := r.Explain(name), r.Similar(name), notReady(r.Router)
	r.Close()
	for i, x := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		printExplanation(out, x)
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
	return &exitError{errors.New("nothing is called " + sanitize.Line(name)), exitFailed, hint}
}

// notReady are the servers whose items are not known.
func notReady(r *router.Router) []string {
	var names []string
	for _, st := range r.Upstreams() {
		if st.State != router.Ready {
			names = append(names, st.Name)
		}
	}
	return names
}

func printExplanation(out io.Writer, x router.Explanation) {
	yes := map[bool]string{true: "yes", false: "no"}
	fmt.Fprintf(out, "%s %s of %s\n", x.Kind, sanitize.Line(x.Name), x.Server)
	fmt.Fprintf(out, "  visible   %s\n", yes[x.Visible])
	fmt.Fprintf(out, "            %s\n", sanitize.Line(x.Rule))
	fmt.Fprintf(out, "  active    %s\n", yes[x.Active])
	if x.Activity != "" {
		fmt.Fprintf(out, "            %s\n", sanitize.Line(x.Activity))
	}
	fmt.Fprintf(out, "  callable  %s\n", yes[x.Callable])
	if x.Danger != "" {
		fmt.Fprintf(out, "            %s\n", sanitize.Line(x.Danger))
	}
	if x.Error != "" {
		fmt.Fprintf(out, "  callers are told: %s\n", sanitize.Line(x.Error))
	}
}
