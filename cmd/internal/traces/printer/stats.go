package printer

import (
	"fmt"
	"io"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
)

// stats prints a table of the calls by tool.
type stats struct {
	printer *Printer // for the table
	calls   *calls.Assembler
	calls.Stats
}

func newStats(out io.Writer, o PrinterOptions) *stats {
	s := &stats{printer: NewPrinter(out, o)}
	s.calls = calls.NewAssembler(o.Filter, false, s.Add)
	return s
}

// Print counts the calls that a record ends.
func (s *stats) Print(r *trace.Record) error {
	s.calls.Take(r)
	return nil
}

// Close counts the calls that are not over, and prints the table.
func (s *stats) Close() error {
	s.calls.EndAll()
	p, table := s.printer, s.Table()
	if p.opts.JSON {
		p.line(cleanJSON(cli.JSON(append([]*calls.ToolStats{}, table...))))
		return p.flush()
	}
	width := 20
	for _, t := range table {
		width = max(width, len(clean(t.Tool)))
	}
	p.line(p.paint(cli.Faint, statsLine(width, "tool", "calls", "errors", "pending", "p50", "p95", "p99", "own p50", "bytes")))
	for _, t := range table {
		line := statsLine(width, clean(t.Tool), fmt.Sprint(t.Calls), fmt.Sprint(t.Errors), fmt.Sprint(t.Pending),
			timeOf(t.Total, t.P50), timeOf(t.Total, t.P95), timeOf(t.Total, t.P99), timeOf(t.Own, t.OwnP50), size(t.Bytes))
		if t.Errors > 0 {
			line = p.paint(cli.Red, line)
		}
		p.line(line)
	}
	return p.flush()
}

// timeOf formats a percentile of values, if there are any.
func timeOf(values []int64, us int64) string {
	if len(values) == 0 {
		return "-"
	}
	return duration(us)
}

func statsLine(width int, tool string, columns ...string) string {
	line := pad(tool, -width)
	for _, c := range columns {
		line += " " + pad(c, 8)
	}
	return line
}
