package prom

import (
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// A Histogram counts durations in buckets, by labels.
type Histogram struct {
	name, help string
	labels     []string
	bounds     []time.Duration
	series     series[times]
}

// times are the durations of one series.
type times struct {
	counts    []atomic.Uint64 // by bound, and those beyond the last one
	exemplars []atomic.Pointer[exemplar]
	sum       atomic.Int64 // nanoseconds
}

// An exemplar is a duration with an ID that other records have, too.
type exemplar struct {
	id   string
	took time.Duration
	at   time.Time
}

// exemplarLabel is the label of an exemplar's ID, and maxExemplar the longest ID: OpenMetrics 1.0 allows
// 128 characters for both together.
const (
	exemplarLabel = "correlation_id"
	maxExemplar   = 128 - len(exemplarLabel)
)

// NewHistogram makes a histogram with buckets up to these ascending bounds. Its name should end in
// _seconds.
func NewHistogram(name, help string, bounds []time.Duration, labels ...string) *Histogram {
	return &Histogram{name, help, labels, bounds, newSeries(labels, func() *times {
		return &times{counts: make([]atomic.Uint64, len(bounds)+1), exemplars: make([]atomic.Pointer[exemplar], len(bounds)+1)}
	})}
}

// Observe counts a duration in the series with these values, one for each label.
func (h *Histogram) Observe(d time.Duration, values ...string) { h.ObserveAs("", d, values...) }

// ObserveAs is Observe for an event with an ID. The latest one with an ID is the exemplar of its bucket,
// unless the ID is too long.
func (h *Histogram) ObserveAs(id string, d time.Duration, values ...string) {
	i, _ := slices.BinarySearch(h.bounds, d)
	t := h.series.of(values)
	t.counts[i].Add(1)
	t.sum.Add(int64(d))
	if id != "" && utf8.RuneCountInString(id) <= maxExemplar {
		t.exemplars[i].Store(&exemplar{id, d, time.Now()})
	}
}

// write implements Metric.
func (h *Histogram) write(p *Page) {
	p.Begin(h.name, "histogram", h.help)
	names := append(slices.Clone(h.labels), "le")
	h.series.sorted(func(v values, t *times) {
		at := append(slices.Clone(v[:len(h.labels)]), "+Inf")
		n := uint64(0)
		for i := range t.counts {
			if at[len(at)-1] = "+Inf"; i < len(h.bounds) {
				at[len(at)-1] = p.bound(h.bounds[i])
			}
			n += t.counts[i].Load()
			p.line(h.name, "_bucket", names, at, float64(n), t.exemplars[i].Load())
		}
		p.line(h.name, "_sum", h.labels, v[:], time.Duration(t.sum.Load()).Seconds(), nil)
		p.line(h.name, "_count", h.labels, v[:], float64(n), nil)
	})
}
