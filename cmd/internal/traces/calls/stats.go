package calls

import (
	"cmp"
	"maps"
	"slices"

	"toolman/jsonrpc/trace"
)

// Stats count calls by tool. The zero value is ready for use.
type Stats struct {
	tools map[string]*ToolStats
}

// ToolStats count the calls of one tool, or of one method without a name. Times are in
// microseconds.
type ToolStats struct {
	Tool    string `json:"tool"`
	Calls   int    `json:"calls"`
	Errors  int    `json:"errors"`
	Pending int    `json:"pending"`
	P50     int64  `json:"p50_us"`
	P95     int64  `json:"p95_us"`
	P99     int64  `json:"p99_us"`
	OwnP50  int64  `json:"own_p50_us"`
	Bytes   int    `json:"bytes"`

	Total, Own []int64 `json:"-"` // of the answered calls, sorted
}

// Add counts a call that is over. It ignores late answers.
func (s *Stats) Add(c *Call) {
	if c.Late() {
		return
	}
	name := cmp.Or(c.First.Name, c.First.Method)
	switch {
	case c.ByToolman() && c.Tapped():
		name += " (by the server)"
	case c.ByToolman():
		name += " (by toolman)"
	}
	t := s.tools[name]
	if t == nil {
		t = &ToolStats{Tool: name}
		if s.tools == nil {
			s.tools = make(map[string]*ToolStats)
		}
		s.tools[name] = t
	}
	t.add(c)
}

func (t *ToolStats) add(c *Call) {
	t.Calls++
	t.Bytes += c.In + c.Out
	switch {
	case c.Status == trace.StatusPending:
		t.Pending++
	case c.Failed():
		t.Errors++
	}
	if c.Answered {
		t.Total = append(t.Total, c.TotalUS)
	}
	if c.Answered && !c.ByToolman() && !c.Tapped() {
		t.Own = append(t.Own, c.OwnUS)
	}
}

// Table returns the statistics of every tool, sorted by the number of calls.
func (s *Stats) Table() []*ToolStats {
	for _, t := range s.tools {
		slices.Sort(t.Total)
		slices.Sort(t.Own)
		t.P50, t.P95, t.P99, t.OwnP50 = Percentile(t.Total, 50), Percentile(t.Total, 95), Percentile(t.Total, 99), Percentile(t.Own, 50)
	}
	return slices.SortedFunc(maps.Values(s.tools), func(a, b *ToolStats) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Tool, b.Tool))
	})
}

// Percentile returns the smallest of the sorted values that p percent of them do not exceed.
func Percentile(sorted []int64, p int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
