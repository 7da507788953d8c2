package inputschema

import (
	"fmt"
	"math"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxToil bounds the work of holding arguments against a schema, in what takes about
// a microsecond. A server could write a small schema that takes for ever: each level of the
// arguments may multiply how often schemas are looked at.
const maxToil = 500_000

// A toil is work as it is added up. It has no use for results: an alternative counts also
// when none is looked at.
type toil struct {
	s     *Schema
	bytes int // of the arguments
	sum   float64
}

// toil returns the work of holding a value against a schema; more than maxToil stands for
// too much.
func (s *Schema) toil(q *jsonschema.Schema, v any, bytes int) float64 {
	t := toil{s: s, bytes: bytes}
	t.add(v, times{q: 1}, 1)
	return t.sum
}

// add adds a value at so many levels that is held against schemas so often.
func (t *toil) add(v any, given times, level int) {
	if level*t.s.depth > maxStacks {
		t.sum = math.Inf(1)
		return
	}
	all := make(times, len(given))
	for q, n := range given {
		for one, k := range t.s.reaches[q].times {
			all[one] += n * k
		}
	}
	for q, n := range all {
		t.sum += n * t.of(q, v)
	}
	if t.sum > maxToil {
		return
	}
	switch v := v.(type) {
	case object:
		for name, member := range v {
			t.addMember(name, member, all, level)
		}
	case array:
		for i, element := range v {
			t.addElement(i, element, all, level)
		}
	}
}

// addMember adds what a member is held against for the schemas of its object.
func (t *toil) addMember(name string, member any, all times, level int) {
	if t.sum > maxToil {
		return
	}
	below, names := times{}, times{}
	for q, n := range all {
		t.s.member(q, name, func(p *jsonschema.Schema) { below[p] += n })
		if p := q.UnevaluatedProperties; p != nil {
			below[p] += n
		}
		if p := q.PropertyNames; p != nil {
			names[p] += n
		}
	}
	if len(names) > 0 {
		t.add(text(name), names, level+1)
	}
	if len(below) > 0 {
		t.add(member, below, level+1)
	}
}

// addElement does the same for an array.
func (t *toil) addElement(i int, element any, all times, level int) {
	if t.sum > maxToil {
		return
	}
	below := times{}
	for q, n := range all {
		for _, p := range []*jsonschema.Schema{t.s.element(q, i), q.Contains, q.UnevaluatedItems} {
			if p != nil {
				below[p] += n
			}
		}
	}
	if len(below) > 0 {
		t.add(element, below, level+1)
	}
}

// of is the work that a schema itself has with a value.
func (t *toil) of(q *jsonschema.Schema, v any) float64 {
	sum := t.s.weights[q]
	switch v := v.(type) {
	case text:
		if q.Pattern != "" || q.MinLength != nil || q.MaxLength != nil {
			sum += float64(len(v))/10 + t.s.patterns[q.Pattern].cost(len(v))
		}
	case object:
		sum += float64(len(v))
		for expression := range q.PatternProperties {
			for name := range v {
				sum += t.s.patterns[expression].cost(len(name))
			}
		}
	case array:
		sum += float64(len(v))
		if q.UniqueItems {
			sum += float64(t.bytes) / 10 // it is read to its ground
		}
	}
	return sum
}

// weight is the work that a schema itself has with any value.
func weight(q *jsonschema.Schema) float64 {
	values := len(fmt.Sprint(q.Enum)) // which are in errors
	if q.Const != nil {
		values += len(fmt.Sprint(*q.Const))
	}
	return 1 + float64(len(q.Properties)+len(q.Required)) + float64(values)/10
}
