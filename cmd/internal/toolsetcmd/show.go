package toolsetcmd

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/setup"
	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
)

// A setReport is what list and show print about a toolset as JSON.
type setReport struct {
	Name        string      `json:"name"`
	Owner       string      `json:"owner,omitempty"`
	Description string      `json:"description,omitempty"`
	Version     string      `json:"version,omitempty"`
	CreatedAt   *time.Time  `json:"createdAt,omitempty"`
	Equipped    bool        `json:"equipped"`
	Where       string      `json:"where"`
	Problem     string      `json:"problem,omitempty"` // why it, or some of its tools, cannot be used
	Tools       []reference `json:"tools"`
}

// A reference is one name, glob or saved reference, and the tools it leads to.
type reference struct {
	Of      string   `json:"of"`
	RefID   string   `json:"refId,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

// report describes a set. equipped is the name of the equipped one.
func (c *command) report(set *toolset.Set, equipped string) setReport {
	r := setReport{Name: set.Name, Owner: set.Owner, Description: sanitize.Line(set.Description), Version: sanitize.Line(set.Version),
		Equipped: set.Key() == equipped, Where: c.folder.Sets(), Problem: sanitize.Line(set.Broken), Tools: []reference{}}
	if !set.Saved() {
		r.Where = fmt.Sprintf("%s:%d", c.config.Path, set.Line)
	}
	if !set.CreatedAt.IsZero() {
		r.CreatedAt = &set.CreatedAt
	}
	for _, p := range set.Patterns {
		r.Tools = append(r.Tools, reference{Of: sanitize.Line(p.Text)})
	}
	for _, ref := range set.Tools {
		one := reference{Of: sanitize.Line(ref.String()), RefID: ref.RefID}
		if ref.Broken != "" {
			one.Outcome, one.Problem = toolset.Broken.String(), sanitize.Line(ref.Broken)
			r.Problem = cmp.Or(r.Problem, one.Problem)
		}
		r.Tools = append(r.Tools, one)
	}
	return r
}

func (c *command) list() error {
	sets, err := setup.AllSets(&c.o)
	if err != nil {
		return err
	}
	equipped, err := c.folder.Equipped()
	if err != nil {
		return err
	}
	reports := []setReport{}
	for i := range sets {
		reports = append(reports, c.report(&sets[i], equipped))
	}
	out := c.OutOrStdout()
	switch {
	case c.asJSON:
		_, err := out.Write(cli.IndentedJSON(reports))
		return err
	case len(reports) == 0:
		return c.print("there are no toolsets; toolman toolset build NAME TOOL... saves one")
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  NAME\tOWNER\tTOOLS\tWHERE\tDESCRIPTION")
	for _, r := range reports {
		mark := map[bool]string{true: "*", false: " "}[r.Equipped]
		fmt.Fprintf(w, "%s %s\t%s\t%d\t%s\t%s\n", mark, r.Name, cmp.Or(r.Owner, "-"), len(r.Tools), r.Where, r.Description)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range reports {
		if r.Problem != "" {
			what := "cannot be used"
			if len(r.Tools) > 0 {
				what = "has tools that cannot be used"
			}
			fmt.Fprintf(out, "! toolset %s %s: %s\n", r.Name, what, r.Problem)
		}
	}
	if equipped == "" {
		return nil
	}
	return c.print("\nthe next start begins with %s (*)", equipped)
}

func (c *command) show(name string) error {
	set, err := setup.FindSet(&c.o, c.owner, name)
	if err != nil {
		return err
	}
	equipped, err := c.folder.Equipped()
	if err != nil {
		return err
	}
	offered, err := c.catalog()
	if err != nil {
		return err
	}
	r := c.report(set, equipped)
	for i, found := range offered.Expand(set).Resolutions {
		r.Tools[i].Outcome, r.Tools[i].Tools, r.Tools[i].Problem = found.Outcome.String(), found.Tools, sanitize.Line(found.Problem)
	}
	if c.asJSON {
		_, err := c.OutOrStdout().Write(cli.IndentedJSON(r))
		return err
	}
	return r.print(c.OutOrStdout())
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
