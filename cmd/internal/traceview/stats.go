package traceview

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc/trace"
)

// stats counts calls by tool.
type stats struct {
	printer *Printer // for the table
	calls   calls
	tools   map[string]*toolStats
}

// toolStats count the calls of one tool, or of one method without a name.
type toolStats struct {
	Tool    string `json:"tool"`
	Calls   int    `json:"calls"`
	Errors  int    `json:"errors"`
	Pending int    `json:"pending"`
	P50     int64  `json:"p50_us"`
	P95     int64  `json:"p95_us"`
	P99     int64  `json:"p99_us"`
	OwnP50  int64  `json:"own_p50_us"`
	Bytes   int    `json:"bytes"`

	total, own []int64
}

func newStats(out io.Writer, o PrinterOptions) *stats {
	s := &stats{printer: NewPrinter(out, o), tools: make(map[string]*toolStats)}
	s.calls = calls{open: make(map[string]*call), filter: o.Filter, done: s.count}
	return s
}

// Print counts the calls that a record ends.
func (s *stats) Print(r *trace.Record) error {
	s.calls.take(r)
	return nil
}

func (s *stats) count(c *call) {
	if c.reported {
		return
	}
	name := cmp.Or(c.first.Name, c.first.Method)
	if c.byToolman() {
		name += " (by toolman)"
	}
	t := s.tools[name]
	if t == nil {
		t = &toolStats{Tool: name}
		s.tools[name] = t
	}
	t.add(c)
}

func (t *toolStats) add(c *call) {
	t.Calls++
	t.Bytes += c.In + c.Out
	switch {
	case c.Status == statusPending:
		t.Pending++
	case c.failed():
		t.Errors++
	}
	if c.answered {
		t.total = append(t.total, c.TotalUS)
	}
	if c.answered && !c.byToolman() {
		t.own = append(t.own, c.OwnUS)
	}
}

// table returns the statistics of every tool, sorted by the number of calls.
func (s *stats) table() []*toolStats {
	for _, t := range s.tools {
		slices.Sort(t.total)
		slices.Sort(t.own)
		t.P50, t.P95, t.P99, t.OwnP50 = percentile(t.total, 50), percentile(t.total, 95), percentile(t.total, 99), percentile(t.own, 50)
	}
	return slices.SortedFunc(maps.Values(s.tools), func(a, b *toolStats) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Tool, b.Tool))
	})
}

// percentile returns the smallest of the sorted values that p percent of them do not exceed.
func percentile(sorted []int64, p int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// Close counts the calls that are not over, and prints the table.
func (s *stats) Close() error {
	s.calls.endAll()
	p, table := s.printer, s.table()
	if p.opts.JSON {
		p.line(cleanJSON(cli.JSON(append([]*toolStats{}, table...))))
		return p.flush()
	}
	width := 20
	for _, t := range table {
		width = max(width, len(clean(t.Tool)))
	}
	p.line(p.paint(cli.Faint, statsLine(width, "tool", "calls", "errors", "pending", "p50", "p95", "p99", "own p50", "bytes")))
	for _, t := range table {
		line := statsLine(width, clean(t.Tool), fmt.Sprint(t.Calls), fmt.Sprint(t.Errors), fmt.Sprint(t.Pending),
			timeOf(t.total, t.P50), timeOf(t.total, t.P95), timeOf(t.total, t.P99), timeOf(t.own, t.OwnP50), size(t.Bytes))
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
