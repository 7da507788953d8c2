package usage

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"toolman/router/audit"
)

// The groups by which calls are counted.
const (
	byTool    = "tool"
	byAgent   = "agent"
	byToolset = "toolset"
)

func groups() []string { return []string{byTool, byAgent, byToolset} }

const (
	maxNames   = 10_000 // of a group
	maxSamples = 1 << 16

	unknown   = "(unknown)" // all names that no tool has
	none      = "(none)"    // no agent, no toolset
	otherName = "(other)"   // all names beyond maxNames
)

// A Row counts the calls of one tool, agent or toolset.
type Row struct {
	Name         string     `json:"name"`
	Calls        int        `json:"calls"`
	Errors       int        `json:"errors"`
	Refused      int        `json:"refused"`
	Cancelled    int        `json:"cancelled"`
	P50          float64    `json:"p50_ms"`
	P95          float64    `json:"p95_ms"`
	RequestBytes int64      `json:"request_bytes"`
	AnswerBytes  int64      `json:"answer_bytes"`
	LastUse      *time.Time `json:"last_use"`

	answered int       // calls with a duration
	took     []float64 // milliseconds, of all calls or of a random sample
}

// counts are the rows of each group, by name.
type counts struct {
	rows  map[string]map[string]*Row // by group
	calls int
	rand  *rand.Rand
}

func newCounts(by []string) *counts {
	c := &counts{rows: map[string]map[string]*Row{}, rand: rand.New(rand.NewPCG(1, 2))} // the same for the same log
	for _, group := range by {
		c.rows[group] = map[string]*Row{}
	}
	return c
}

// add counts a line. A client that is asked for input repeats its call, which counts then.
func (c *counts) add(l *audit.Line) {
	if l.Method != "tools/call" || l.Outcome == audit.InputRequired {
		return
	}
	c.calls++
	for group := range c.rows {
		for _, name := range names(l, group) {
			c.row(group, name).add(l, c.rand)
		}
	}
}

// names returns the names that a line counts for.
func names(l *audit.Line, group string) []string {
	switch group {
	case byTool:
		if l.Server == "" { // the name is the client's
			return []string{unknown}
		}
		return []string{l.Name}
	case byAgent:
		return []string{cmp.Or(l.Agent, none)}
	}
	if len(l.Toolsets) == 0 {
		return []string{none}
	}
	return l.Toolsets
}

func (c *counts) row(group, name string) *Row {
	rows := c.rows[group]
	r := rows[name]
	if r == nil && len(rows) >= maxNames {
		name = otherName
		r = rows[name]
	}
	if r == nil {
		r = &Row{Name: name}
		rows[name] = r
	}
	return r
}

func (r *Row) add(l *audit.Line, random *rand.Rand) {
	r.Calls++
	r.RequestBytes += int64(l.RequestBytes)
	r.AnswerBytes += int64(l.AnswerBytes)
	if at := l.Time; r.LastUse == nil || at.After(*r.LastUse) {
		r.LastUse = &at
	}
	switch l.Outcome {
	case audit.Refused:
		r.Refused++
		return
	case audit.Cancelled:
		r.Cancelled++
		return
	case audit.OK:
	default:
		r.Errors++
	}
	r.answered++
	if len(r.took) < maxSamples {
		r.took = append(r.took, l.DurationMS)
	} else if i := random.IntN(r.answered); i < maxSamples { // so that each call has the same chance
		r.took[i] = l.DurationMS
	}
}

// table returns the rows of a group, those with most calls first.
func (c *counts) table(group string) []*Row {
	for _, r := range c.rows[group] {
		slices.Sort(r.took)
		r.P50, r.P95 = percentile(r.took, 50), percentile(r.took, 95)
	}
	return slices.SortedFunc(maps.Values(c.rows[group]), func(a, b *Row) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
}

// percentile returns the smallest of the sorted values that p percent of them do not exceed.
func percentile(sorted []float64, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
