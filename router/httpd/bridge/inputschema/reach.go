package inputschema

import (
	"errors"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds on what holding one value against one schema may lead to.
const (
	maxReach  = 100_000 // schemas, over all of the reaches of a schema
	maxStacks = 1000    // calls of the library inside of each other
)

var (
	errCircle = errors.New("references lead in a circle")
	errToil   = errors.New("a value would be held against too many schemas")
)

// times are how often schemas are looked at.
type times map[*jsonschema.Schema]float64

// A reach is what is looked at for a value that is held against a schema: that schema, and
// all that it has for the same value or that references lead to.
type reach struct {
	times times
	depth int // how far inside of each other
}

// measure finds the reaches of all schemas. The library would follow a circle until the
// stack is full, which ends the program; and where references stand beside each other, a
// schema as small as it is can be looked at more often than there is time.
func (s *Schema) measure() error {
	room := maxReach
	var find func(q *jsonschema.Schema) (*reach, error)
	find = func(q *jsonschema.Schema) (*reach, error) {
		if r, known := s.reaches[q]; r != nil {
			return r, nil
		} else if known {
			return nil, errCircle
		}
		s.reaches[q] = nil // being looked at
		r := &reach{times{q: 1}, 1}
		for _, p := range s.onSame(q) {
			below, err := find(p)
			if err != nil {
				return nil, err
			}
			r.depth = max(r.depth, below.depth+1)
			for one, n := range below.times {
				r.times[one] += n
			}
		}
		total := 0.0
		for _, n := range r.times {
			total += n
		}
		if room -= len(r.times); room < 0 || total > maxToil || r.depth > maxStacks {
			return nil, errToil
		}
		s.reaches[q] = r
		return r, nil
	}
	for _, q := range s.all {
		r, err := find(q)
		if err != nil {
			return err
		}
		s.depth = max(s.depth, r.depth)
	}
	return nil
}

// onSame are the schemas that a schema has a value held against in turn.
func (s *Schema) onSame(q *jsonschema.Schema) (all []*jsonschema.Schema) {
	if target := s.targets[q]; target != nil {
		all = append(all, target)
		if s.draft7 {
			return all
		}
	}
	for _, p := range parts(q) {
		if p.same {
			all = append(all, p.schema)
		}
	}
	return all
}
