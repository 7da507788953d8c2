package initcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/importer"
	"toolman/mcpwire/sanitize"
)

// printRows prints columns, of which those in right are aligned to the right.
func printRows(out io.Writer, rows [][]string, right ...int) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			b.WriteString("  ")
			if slices.Contains(right, i) {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
}

// printLeftOut says which servers are left out, and why.
func printLeftOut(out io.Writer, plans ...*importer.Plan) {
	n := 0
	for _, p := range plans {
		n += len(p.Skipped) + len(p.Problems)
	}
	if n == 0 {
		return
	}
	fmt.Fprintln(out, "\nNot taken over:")
	for _, p := range plans {
		for _, s := range p.Skipped {
			fmt.Fprintf(out, "  %s\n", s)
		}
		for _, err := range p.Problems {
			fmt.Fprintf(out, "  %s\n", sanitize.Line(err.Error()))
			if hint := cli.Hint(err); hint != "" {
				fmt.Fprintf(out, "    %s\n", sanitize.Line(hint))
			}
		}
	}
}

// printNotes prints what needs attention of the servers that are taken over.
func printNotes(out io.Writer, plans ...*importer.Plan) {
	head := "\nNote:\n"
	for _, p := range plans {
		for _, s := range p.New() {
			for _, note := range s.Notes {
				fmt.Fprintf(out, "%s  %s: %s\n", head, s.Namespace, sanitize.Line(note))
				head = ""
			}
		}
	}
}
