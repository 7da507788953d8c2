package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
)

// A setReport is what `toolman toolset list` and `show` print as JSON.
type setReport struct {
	Name        string      `json:"name"`
	Owner       string      `json:"owner,omitempty"`
	Description string      `json:"description,omitempty"`
	Version     string      `json:"version,omitempty"`
	CreatedAt   *time.Time  `json:"createdAt,omitempty"`
	Equipped    bool        `json:"equipped"`
	Where       string      `json:"where"`
	Tools       []refReport `json:"tools"`
}

// A refReport is one name, glob or reference, and where it leads.
type refReport struct {
	Of      string   `json:"of"`
	RefID   string   `json:"refId,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

func (j *setJob) report(set *toolset.Set, equipped string) setReport {
	r := setReport{Name: set.Name, Owner: set.Owner, Description: sanitize.Line(set.Description), Version: sanitize.Line(set.Version),
		Equipped: set.Key() == equipped, Where: j.folder.Sets(), Tools: []refReport{}}
	if !set.Saved() {
		r.Where = fmt.Sprintf("%s:%d", j.config.Path, set.Line)
	}
	if !set.CreatedAt.IsZero() {
		r.CreatedAt = &set.CreatedAt
	}
	for _, p := range set.Patterns {
		r.Tools = append(r.Tools, refReport{Of: sanitize.Line(p.Text)})
	}
	for _, ref := range set.Tools {
		r.Tools = append(r.Tools, refReport{Of: sanitize.Line(ref.String()), RefID: ref.RefID})
	}
	return r
}

// resolve says where each of a report's references leads.
func (r *setReport) resolve(x *toolset.Expansion) {
	for i, found := range x.Resolutions {
		r.Tools[i].Outcome, r.Tools[i].Tools, r.Tools[i].Problem = found.Outcome.String(), found.Tools, sanitize.Line(found.Problem)
	}
}

func newListSetsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := setCommand(a, "list", "List the toolsets there are", 0, func(j *setJob, _ []string) error { return j.list(asJSON) })
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (j *setJob) list(asJSON bool) error {
	sets, err := allSets(&j.o)
	if err != nil {
		return err
	}
	name, err := j.folder.Equipped()
	if err != nil {
		return err
	}
	reports := []setReport{}
	for i := range sets {
		reports = append(reports, j.report(&sets[i], name))
	}
	out := j.cmd.OutOrStdout()
	if asJSON {
		return printJSON(out, reports)
	}
	if len(reports) == 0 {
		return j.print("there are no toolsets; toolman toolset build NAME TOOL... saves one")
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  NAME\tOWNER\tTOOLS\tWHERE\tDESCRIPTION")
	for _, r := range reports {
		fmt.Fprintf(w, "%s %s\t%s\t%d\t%s\t%s\n", mark(r.Equipped), r.Name, cmp.Or(r.Owner, "-"), len(r.Tools), r.Where, r.Description)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if name != "" {
		return j.print("\nthe next start begins with %s (*)", name)
	}
	return nil
}

func mark(equipped bool) string {
	if equipped {
		return "*"
	}
	return " "
}

func newShowSetCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := ownedCommand(a, "show NAME", "Start every server and say which tools a toolset stands for", func(j *setJob, owner, name string) error {
		return j.show(owner, name, asJSON)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (j *setJob) show(owner, name string, asJSON bool) error {
	set, err := findSet(&j.o, owner, name)
	if err != nil {
		return err
	}
	equipped, err := j.folder.Equipped()
	if err != nil {
		return err
	}
	catalog, err := j.catalog()
	if err != nil {
		return err
	}
	r := j.report(set, equipped)
	r.resolve(catalog.Expand(set))
	if asJSON {
		return printJSON(j.cmd.OutOrStdout(), r)
	}
	return r.print(j.cmd.OutOrStdout())
}

func (r *setReport) print(out io.Writer) error {
	fmt.Fprintf(out, "%s (%s)", r.Name, r.Where)
	if r.Owner != "" {
		fmt.Fprintf(out, ", saved by %s", r.Owner)
	}
	if r.Equipped {
		fmt.Fprint(out, ", equipped")
	}
	fmt.Fprintln(out)
	if r.Description != "" {
		fmt.Fprintln(out, r.Description)
	}
	for _, t := range r.Tools {
		for _, name := range t.Tools {
			fmt.Fprintf(out, "  %s\n", sanitize.Line(name))
		}
	}
	for _, t := range r.Tools {
		if t.Problem != "" {
			if _, err := fmt.Fprintf(out, "! %s\n", t.Problem); err != nil {
				return err
			}
		}
	}
	return nil
}

func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// are is counted with its verb: "1 tool is", "2 tools are".
func are(n int, thing string) string {
	if n == 1 {
		return counted(n, thing) + " is"
	}
	return counted(n, thing) + " are"
}

// counted is a number of things in words: "1 tool", "2 tools".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
