package prom

import (
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// A Counter counts what has happened, by labels.
type Counter struct {
	name, help string
	labels     []string
	series     series[atomic.Uint64]
}

// NewCounter makes a counter. Its name should end in _total.
func NewCounter(name, help string, labels ...string) *Counter {
	return &Counter{name, help, labels, newSeries(labels, func() *atomic.Uint64 { return new(atomic.Uint64) })}
}

// Add adds n to the series with these values, one for each label.
func (c *Counter) Add(n uint64, values ...string) { c.series.of(values).Add(n) }

// write implements Metric.
func (c *Counter) write(p *Page) {
	p.Begin(c.name, "counter", c.help)
	c.series.sorted(func(v values, n *atomic.Uint64) {
		p.line(c.name, "", c.labels, v[:], float64(n.Load()))
	})
}

// A Histogram counts times by how long they were, by labels.
type Histogram struct {
	name, help string
	labels     []string
	bounds     []time.Duration
	series     series[times]
}

// times are those of one series.
type times struct {
	counts []atomic.Uint64 // by bound, and one for what is beyond the last
	sum    atomic.Int64    // nanoseconds
}

// NewHistogram makes a histogram with buckets up to these bounds, which ascend. Its name
// should end in _seconds.
func NewHistogram(name, help string, bounds []time.Duration, labels ...string) *Histogram {
	return &Histogram{name, help, labels, bounds, newSeries(labels, func() *times {
		return &times{counts: make([]atomic.Uint64, len(bounds)+1)}
	})}
}

// Observe counts a time in the series with these values, one for each label.
func (h *Histogram) Observe(d time.Duration, values ...string) {
	i, _ := slices.BinarySearch(h.bounds, d)
	t := h.series.of(values)
	t.counts[i].Add(1)
	t.sum.Add(int64(d))
}

// write implements Metric.
func (h *Histogram) write(p *Page) {
	p.Begin(h.name, "histogram", h.help)
	names := append(slices.Clone(h.labels), "le")
	h.series.sorted(func(v values, t *times) {
		at := append(slices.Clone(v[:len(h.labels)]), "")
		n := uint64(0)
		for i := range t.counts {
			bound := math.Inf(1)
			if i < len(h.bounds) {
				bound = h.bounds[i].Seconds()
			}
			n += t.counts[i].Load()
			at[len(at)-1] = number(bound)
			p.line(h.name, "_bucket", names, at, float64(n))
		}
		p.line(h.name, "_sum", h.labels, v[:], time.Duration(t.sum.Load()).Seconds())
		p.line(h.name, "_count", h.labels, v[:], float64(n))
	})
}

// number is how the format writes one.
func number(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "+Inf"
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
