package prom

import (
	"math"
	"strconv"
	"sync/atomic"
)

// A Counter counts events, by labels.
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
		p.line(c.name, "", c.labels, v[:], float64(n.Load()), nil)
	})
}

// number returns a number as both formats write it.
func number(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "+Inf"
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
