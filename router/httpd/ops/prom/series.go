package prom

import (
	"slices"
	"strings"
	"sync"
)

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
	var keys []values
	for v := range s.all {
		keys = append(keys, v)
	}
	slices.SortFunc(keys, func(a, b values) int { return slices.Compare(a[:], b[:]) })
	for _, v := range keys {
		f(v, s.all[v])
	}
}
