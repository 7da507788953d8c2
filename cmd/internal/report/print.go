package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"toolman/cmd/internal/diagnosis"
	"toolman/cmd/internal/engine"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/upstream"
)

// elsewhere are the findings that problems and notes say as well.
var elsewhere = []string{"list-unread", "stray-output", "name-changed", "name-too-long", "name-collision", "pins-held"}

// Print writes the report for people.
func (rep *Report) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s (%s)\n", rep.Config, rep.Why)
	if rep.Mode != "" {
		fmt.Fprintf(out, "activation_mode is %q for every client\n", rep.Mode)
	}
	if rep.Cluster != nil {
		fmt.Fprintf(out, "cluster %s: the engine is %s\n", rep.Cluster.Name, rep.Cluster.Engine)
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  SERVER\tSTATE\tREVISION\tERA\tSTART\tTOOLS\tRESOURCES\tTEMPLATES\tPROMPTS\tPROGRAM")
	for _, s := range rep.Servers {
		mark := " "
		if s.State != upstream.Ready.String() && s.State != upstream.PerSession.String() {
			mark = "!"
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n", mark, s.Name, s.State, cmp.Or(s.Revision, "-"), cmp.Or(s.Era, "-"),
			engine.Seconds(time.Duration(s.Millis)*time.Millisecond), s.Tools, s.Resources, s.Templates, s.Prompts, cmp.Or(s.Server, "-"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, s := range rep.Servers {
		if s.About != "" {
			fmt.Fprintf(out, "\n  %s: %s", s.Name, sanitize.Line(s.About))
		}
	}
	for _, p := range rep.Problems {
		fmt.Fprintf(out, "\n! %s", p)
	}
	for _, s := range rep.Servers {
		if s.Stderr != "" {
			fmt.Fprintf(out, "\n! the last that server %s wrote to its standard error:\n    %s", s.Name, strings.ReplaceAll(s.Stderr, "\n", "\n    "))
		}
	}
	for _, f := range rep.Findings {
		if mark := "-"; f.Server != "" && !slices.Contains(elsewhere, f.ID) {
			if f.Level == diagnosis.Problem {
				mark = "!"
			}
			fmt.Fprintf(out, "\n%s server %s: %s (%s)\n    %s", mark, f.Server, f.Summary, f.ID, f.Fix)
		}
	}
	for _, n := range rep.Notes {
		fmt.Fprintf(out, "\n- %s", n)
	}
	_, err := fmt.Fprintf(out, "\n\n%d of %d tools are active: the list costs a model %d bytes, about %d tokens (all tools: %d bytes, about %d tokens).\n",
		rep.Cost.ActiveTools, rep.Cost.AllTools, rep.Cost.ListBytes, rep.Cost.ListTokens, rep.Cost.AllBytes, rep.Cost.AllTokens)
	return err
}

// PrintExplanation writes what toolman explain says about one item.
func PrintExplanation(out io.Writer, x router.Explanation) {
	yes := map[bool]string{true: "yes", false: "no"}
	detail := func(text string) {
		if text != "" {
			fmt.Fprintf(out, "            %s\n", sanitize.Line(text))
		}
	}
	fmt.Fprintf(out, "%s %s of %s\n", x.Kind, sanitize.Line(x.Name), x.Server)
	fmt.Fprintf(out, "  visible   %s\n", yes[x.Visible])
	detail(x.Rule)
	fmt.Fprintf(out, "  active    %s\n", yes[x.Active])
	detail(x.Activity)
	fmt.Fprintf(out, "  callable  %s\n", yes[x.Callable])
	if x.Unless != "" {
		detail("unless " + x.Unless)
	}
	detail(x.Danger)
	if x.Error != "" {
		fmt.Fprintf(out, "  callers are told: %s\n", sanitize.Line(x.Error))
	}
}
