package usage

import (
	"fmt"
	"io"
	"strings"
	"time"

	"toolman/cmd/internal/auditlog"
	"toolman/cmd/internal/cli"
	"toolman/mcpwire/sanitize"
)

// A report is what the command prints as JSON.
type report struct {
	File       string            `json:"file"`
	First      *time.Time        `json:"first,omitempty"`
	Last       *time.Time        `json:"last,omitempty"`
	Calls      int               `json:"calls"`
	Unreadable int               `json:"unreadable_lines"`
	Dropped    uint64            `json:"dropped_lines"`
	By         map[string][]*Row `json:"by"`
}

func (c *command) print(by []string, sum *auditlog.Summary, counts *counts) error {
	r := &report{File: c.log, Calls: counts.calls, Unreadable: sum.Unreadable, Dropped: sum.Dropped, By: map[string][]*Row{}}
	if sum.Lines > 0 {
		r.First, r.Last = &sum.First, &sum.Last
	}
	for _, group := range by {
		r.By[group] = append([]*Row{}, counts.table(group)...)
	}
	if c.asJSON {
		_, err := c.OutOrStdout().Write(cli.IndentedJSON(r))
		return err
	}
	_, err := io.WriteString(c.OutOrStdout(), r.text(by))
	return err
}

// text returns the report for people.
func (r *report) text(by []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of tools", sanitize.Line(r.File), cli.Count(r.Calls, "call"))
	if r.First != nil {
		fmt.Fprintf(&b, ", from %s to %s", r.First.Local().Format(minutes), r.Last.Local().Format(minutes))
	}
	b.WriteString("\n")
	if r.Unreadable > 0 {
		fmt.Fprintf(&b, "%s not read: no records of the audit log\n", cli.CountIs(r.Unreadable, "line"))
	}
	if r.Dropped > 0 {
		fmt.Fprintf(&b, "%s missing: toolman could not write as fast\n", cli.CountIs(int(r.Dropped), "line"))
	}
	for _, group := range by {
		if rows := r.By[group]; len(rows) > 0 {
			b.WriteString("\n")
			b.WriteString(table(group, rows))
		}
	}
	return b.String()
}

const minutes = "2006-01-02 15:04"

func table(group string, rows []*Row) string {
	width := len(group)
	for _, r := range rows {
		width = max(width, len([]rune(sanitize.Line(r.Name))))
	}
	var b strings.Builder
	line := func(name string, cells ...string) {
		b.WriteString(name + strings.Repeat(" ", width-len([]rune(name))))
		for _, cell := range cells {
			fmt.Fprintf(&b, "  %9s", cell)
		}
	}
	line(group, "calls", "errors", "refused", "p50", "p95", "bytes")
	b.WriteString("  last use\n")
	for _, r := range rows {
		p50, p95 := "-", "-"
		if r.answered > 0 {
			p50, p95 = duration(r.P50), duration(r.P95)
		}
		line(sanitize.Line(r.Name), fmt.Sprint(r.Calls), fmt.Sprint(r.Errors), fmt.Sprint(r.Refused), p50, p95, size(r.RequestBytes+r.AnswerBytes))
		fmt.Fprintf(&b, "  %s\n", r.LastUse.Local().Format(minutes))
	}
	return b.String()
}

func duration(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

func size(bytes int64) string {
	switch {
	case bytes < 10_000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%.0f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}
