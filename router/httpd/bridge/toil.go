package bridge

import (
	"math"
	"reflect"
	"strings"
)

// maxToil bounds how often the schemas that references lead to may be looked at for one
// value. A server could write a small schema that takes for ever: where several references
// stand beside each other for the same value, each level of them, and each level of the
// arguments, multiplies the work.
const maxToil = 1e6

// A toil finds out how much work a schema is.
type toil struct {
	doc   any
	known map[uintptr]float64 // by object; 0 while it is looked at
}

// branching returns how many references one value may lead through at most, by all ways;
// false where that cannot be told, because they do not say where they lead.
func branching(doc any) (most float64, ok bool) {
	t := &toil{doc: doc, known: map[uintptr]float64{}}
	ok = true
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			n, plain := t.ways(v)
			most, ok = max(most, n), ok && plain
			for _, member := range v {
				walk(member)
			}
		case []any:
			for _, element := range v {
				walk(element)
			}
		}
	}
	walk(doc)
	return most, ok
}

// ways returns the references that a value leads through in a schema and in those that
// apply to the same value.
func (t *toil) ways(s map[string]any) (n float64, ok bool) {
	at := reflect.ValueOf(s).Pointer()
	if n, known := t.known[at]; known {
		return n, true
	}
	t.known[at], ok = 0, true
	add := func(v any) {
		if sub, is := v.(map[string]any); is {
			m, plain := t.ways(sub)
			n, ok = math.Min(n+m, 2*maxToil), ok && plain
		}
	}
	for key, v := range s {
		switch key {
		case "$ref":
			to, found := t.at(v)
			n, ok = n+1, ok && found
			add(to)
		case "$dynamicRef", "$recursiveRef":
			ok = false
		case "allOf", "anyOf", "oneOf":
			all, _ := v.([]any)
			for _, one := range all {
				add(one)
			}
		case "not", "if", "then", "else":
			add(v)
		case "dependentSchemas":
			all, _ := v.(map[string]any)
			for _, one := range all {
				add(one)
			}
		}
	}
	t.known[at] = n
	return n, ok
}

// at is what a reference leads to, if that is a place in the schema.
func (t *toil) at(ref any) (v any, ok bool) {
	text, _ := ref.(string)
	pointer, ok := strings.CutPrefix(text, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	v = t.doc
	for i, name := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		m, _ := v.(map[string]any)
		if v, ok = m[unescapePointer().Replace(name)]; !ok {
			return nil, false
		}
	}
	return v, true
}

func unescapePointer() *strings.Replacer { return strings.NewReplacer("~1", "/", "~0", "~") }

// tooDeep reports whether a value is nested too deep to be held against a schema with so
// much branching.
func tooDeep(value any, branching float64) bool {
	return branching > 1 && math.Pow(branching, float64(depth(value))) > maxToil
}

func depth(value any) (most int) {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			most = max(most, depth(member))
		}
	case []any:
		for _, element := range v {
			most = max(most, depth(element))
		}
	}
	return most + 1
}
