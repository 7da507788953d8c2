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
	calls calls
	tools map[string]*toolStats
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

func newStats(f Filter) *stats {
	return &stats{calls: calls{open: make(map[string]*call), filter: f}, tools: make(map[string]*toolStats)}
}

func (s *stats) add(r *trace.Record) {
	if r.Type == trace.TypeSession {
		s.finish()
		return
	}
	for _, c := range s.calls.gone(r) {
		s.count(c)
	}
	if c, over := s.calls.add(r); over {
		s.count(c)
	}
}

// finish counts the calls that are not over.
func (s *stats) finish() {
	for _, c := range s.calls.rest() {
		s.count(c)
	}
}

func (s *stats) count(c *call) {
	if c.reported || !s.calls.filter.match(c.subject()) {
		return
	}
	c.reported = true
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

func (s *stats) print(out io.Writer, asJSON, colored bool) error {
	s.finish()
	table := s.table()
	if asJSON {
		_, err := fmt.Fprintf(out, "%s\n", cleanJSON(cli.JSON(append([]*toolStats{}, table...))))
		return err
	}
	p := Printer{out: out, opts: PrinterOptions{Color: colored}}
	width := 20
	for _, t := range table {
		width = max(width, len(clean(t.Tool)))
	}
	p.line(p.paint(cli.Faint, statsLine(width, "tool", "calls", "errors", "pending", "p50", "p95", "p99", "own p50", "bytes")))
	for _, t := range table {
		line := statsLine(width, clean(t.Tool), fmt.Sprint(t.Calls), fmt.Sprint(t.Errors), fmt.Sprint(t.Pending),
			t.time(t.P50), t.time(t.P95), t.time(t.P99), t.ownTime(), size(t.Bytes))
		if t.Errors > 0 {
			line = p.paint(cli.Red, line)
		}
		p.line(line)
	}
	return p.flush()
}

// time formats a percentile of the calls that were answered, if there are any.
func (t *toolStats) time(us int64) string {
	if len(t.total) == 0 {
		return "-"
	}
	return duration(us)
}

func (t *toolStats) ownTime() string {
	if len(t.own) == 0 {
		return "-"
	}
	return duration(t.OwnP50)
}

func statsLine(width int, tool string, columns ...string) string {
	line := pad(tool, -width)
	for _, c := range columns {
		line += " " + pad(c, 8)
	}
	return line
}
