package provider

import (
	"maps"
	"slices"
)

// A schema is a decoded JSON Schema that is an object. Numbers are json.Number.
type schema = map[string]any

// Keywords whose values hold schemas: one, a list of them, or one for each name.
var (
	single = words{"items", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}
	lists  = words{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	named  = words{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// words are a few, which are not worth a map: that would be made at each start of toolman.
type words []string

func (w words) has(word string) bool { return slices.Contains(w, word) }

// each is a copy of s with what f makes of every schema that stands directly in it. Values
// that are no schemas, such as those of enum, are left alone.
func each(s schema, f func(schema) schema) schema {
	s = maps.Clone(s)
	for key, value := range s {
		switch v := value.(type) {
		case schema:
			switch {
			case single.has(key):
				s[key] = f(v)
			case named.has(key):
				s[key] = eachIn(v, f)
			}
		case []any:
			if lists.has(key) {
				all := slices.Clone(v)
				for i, one := range all {
					if sub, ok := one.(schema); ok {
						all[i] = f(sub)
					}
				}
				s[key] = all
			}
		}
	}
	return s
}

func eachIn(names schema, f func(schema) schema) schema {
	names = maps.Clone(names)
	for name, value := range names {
		if sub, ok := value.(schema); ok {
			names[name] = f(sub)
		}
	}
	return names
}
