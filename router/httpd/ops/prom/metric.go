package prom

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
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

// exemplarLabel is the label of an exemplar's ID, and maxExemplar the longest ID: OpenMetrics 1.0
// allows 128 characters for both together.
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

// Observe counts a duration in the series with these values, one for each label. The latest
// duration with an ID is the exemplar of its bucket, unless the ID is too long. The ID may be "".
func (h *Histogram) Observe(id string, d time.Duration, values ...string) {
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

// Limits of one metric.
const (
	MaxSeries = 2000
	MaxLabels = 3
)

// Other stands for all values beyond MaxSeries.
const Other = "_other"

// values are the label values of a series.
type values [MaxLabels]string

// A series holds a T for each set of label values.
type series[T any] struct {
	labels int
	create func() *T

	mu  sync.RWMutex
	all map[values]*T // guarded by mu
}

func newSeries[T any](labels []string, create func() *T) series[T] {
	if len(labels) > MaxLabels {
		panic("prom: more labels than there may be: " + strings.Join(labels, ", "))
	}
	return series[T]{labels: len(labels), create: create, all: map[values]*T{}}
}

// of returns the T of these values.
func (s *series[T]) of(given []string) *T {
	var v values
	copy(v[:], given)
	s.mu.RLock()
	one := s.all[v]
	s.mu.RUnlock()
	if one != nil {
		return one
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= MaxSeries-1 && s.all[v] == nil {
		v = values{}
		for i := range s.labels {
			v[i] = Other
		}
	}
	if s.all[v] == nil {
		s.all[v] = s.create()
	}
	return s.all[v]
}

// sorted calls f for each T, in the order of their values.
func (s *series[T]) sorted(f func(v values, one *T)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var keys []*values
	for v := range s.all {
		keys = append(keys, &v)
	}
	slices.SortFunc(keys, func(a, b *values) int { return slices.Compare(a[:], b[:]) })
	for _, v := range keys {
		f(*v, s.all[*v])
	}
}
