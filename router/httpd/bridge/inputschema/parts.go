package inputschema

import (
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// A part is a schema that is written right inside of another.
type part struct {
	at     string // a JSON pointer from there
	schema *jsonschema.Schema
	same   bool // it is for the same value
}

// parts are those of a schema. A nil among them is no part: the library refuses it.
func parts(q *jsonschema.Schema) (all []part) {
	one := func(at string, p *jsonschema.Schema, same bool) {
		if p != nil {
			all = append(all, part{"/" + at, p, same})
		}
	}
	list := func(at string, ps []*jsonschema.Schema, same bool) {
		for i, p := range ps {
			one(at+"/"+strconv.Itoa(i), p, same)
		}
	}
	named := func(at string, ps map[string]*jsonschema.Schema, same bool) {
		for name, p := range ps {
			one(at+"/"+escape(name), p, same)
		}
	}
	list("allOf", q.AllOf, true)
	list("anyOf", q.AnyOf, true)
	list("oneOf", q.OneOf, true)
	one("not", q.Not, true)
	one("if", q.If, true)
	one("then", q.Then, true)
	one("else", q.Else, true)
	named("dependentSchemas", q.DependentSchemas, true)
	named("dependencies", q.DependencySchemas, true)
	list("prefixItems", q.PrefixItems, false)
	list("items", q.ItemsArray, false)
	one("items", q.Items, false)
	one("additionalItems", q.AdditionalItems, false)
	one("unevaluatedItems", q.UnevaluatedItems, false)
	one("contains", q.Contains, false)
	named("properties", q.Properties, false)
	named("patternProperties", q.PatternProperties, false)
	one("additionalProperties", q.AdditionalProperties, false)
	one("unevaluatedProperties", q.UnevaluatedProperties, false)
	one("propertyNames", q.PropertyNames, false)
	one("contentSchema", q.ContentSchema, false)
	named("$defs", q.Defs, false)
	named("definitions", q.Definitions, false)
	return all
}

// member calls do for the schemas in q that the member of an object is held against.
func (s *Schema) member(q *jsonschema.Schema, name string, do func(*jsonschema.Schema)) {
	p, foreseen := q.Properties[name]
	if foreseen {
		do(p)
	}
	for expression, p := range q.PatternProperties {
		if s.patterns[expression].MatchString(name) {
			foreseen = true
			do(p)
		}
	}
	if !foreseen && q.AdditionalProperties != nil {
		do(q.AdditionalProperties)
	}
}

// element returns the schema in q that the element of an array is held against; nil: none.
func (s *Schema) element(q *jsonschema.Schema, i int) *jsonschema.Schema {
	first, others := q.PrefixItems, q.Items
	if s.draft7 {
		if first = q.ItemsArray; first != nil {
			others = q.AdditionalItems
		}
	}
	if i < len(first) {
		return first[i]
	}
	return others
}

// escape makes a name one of a JSON pointer (RFC 6901).
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
