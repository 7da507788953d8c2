package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
)

// A budget is a bound of --max: "p95:fs_*<200ms".
type budget struct {
	text, metric, tools string
	below               bool // < in place of <=
	most                float64
	tested              bool
}

// unitOf returns the unit of what a budget bounds: d durations, n numbers, b bytes; 0: unknown.
func unitOf(metric string) byte {
	switch metric {
	case "count", "errors":
		return 'n'
	case "bytes":
		return 'b'
	case "p50", "p90", "p95", "p99", "max", "own":
		return 'd'
	}
	return 0
}

const metricsText = "count, errors, p50, p90, p95, p99, max, own or bytes"

func parseBudget(text string) (*budget, error) {
	name, value, found := strings.Cut(text, "<")
	if !found {
		return nil, errors.New("there is no < in it")
	}
	b := &budget{text: text, below: true}
	if rest, ok := strings.CutPrefix(value, "="); ok {
		b.below, value = false, rest
	}
	b.metric, b.tools, found = strings.Cut(name, ":")
	if !found {
		b.tools = "*"
	}
	unit := unitOf(b.metric)
	if unit == 0 || b.tools == "" {
		return nil, fmt.Errorf("%q is none of %s", b.metric, metricsText)
	}
	var err error
	switch unit {
	case 'd':
		var d time.Duration
		d, err = time.ParseDuration(value)
		b.most = float64(d.Microseconds())
	case 'b':
		b.most, err = parseBytes(value)
	default:
		b.most, err = strconv.ParseFloat(value, 64)
	}
	if err != nil || !(b.most >= 0) {
		return nil, fmt.Errorf("%q is not a value for %s", value, b.metric)
	}
	return b, nil
}

func parseBytes(text string) (float64, error) {
	for _, unit := range []struct {
		suffix string
		bytes  float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1}, {"", 1}} {
		if number, ok := strings.CutSuffix(text, unit.suffix); ok {
			n, err := strconv.ParseFloat(number, 64)
			return n * unit.bytes, err
		}
	}
	return 0, errors.New("no number")
}

// A tool has the figures of the calls of one tool, or of one method without names.
type tool struct {
	count, errors, bytes int
	times                []int64 // of answered calls
	own                  int64   // the longest
}

// tally counts calls by tool.
type tally map[string]*tool

func (t tally) add(c *calls.Call) {
	name := cmp.Or(c.First.Name, c.First.Method)
	one := t[name]
	if one == nil {
		one = &tool{}
		t[name] = one
	}
	one.count++
	one.bytes += c.In + c.Out
	if c.Failed() {
		one.errors++
	}
	if c.Status != trace.StatusPending {
		one.times = append(one.times, c.TotalUS)
		one.own = max(one.own, c.OwnUS)
	}
}

// check finds the tools that exceed a budget.
func (b *budget) check(t tally, f *findings) {
	var names []string
	for name := range t {
		if filter.Matches(name, b.tools) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		b.tested = true
		is := b.of(t[name])
		if is < b.most || is == b.most && !b.below {
			continue
		}
		f.put(Finding{Kind: "budget", Count: 1, Name: name, Text: fmt.Sprintf("%s is %s, --max %s", b.metric, b.shown(is), b.text)})
	}
}

func (b *budget) of(t *tool) float64 {
	switch b.metric {
	case "count":
		return float64(t.count)
	case "errors":
		return float64(t.errors)
	case "bytes":
		return float64(t.bytes)
	case "own":
		return float64(t.own)
	}
	slices.Sort(t.times)
	if len(t.times) == 0 {
		return 0
	}
	percent := map[string]int{"p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}[b.metric]
	return float64(t.times[max(0, (len(t.times)*percent+99)/100-1)]) // the nearest rank
}

func (b *budget) shown(n float64) string {
	if unitOf(b.metric) == 'd' {
		return (time.Duration(n) * time.Microsecond).String()
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
