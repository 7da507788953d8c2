package provider

// A schema is a decoded JSON Schema that is an object. Numbers are json.Number.
type schema = map[string]any

// Keywords whose values hold schemas: one, a list of them, or one for each name.
var (
	single = set("items", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
	lists  = set("allOf", "anyOf", "oneOf", "prefixItems", "items")
	named  = set("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
)

func set(words ...string) map[string]bool {
	all := map[string]bool{}
	for _, word := range words {
		all[word] = true
	}
	return all
}

// each calls f with every schema that stands directly in s, and puts what that returns
// in its place. Values that are no schemas, such as those of enum, are left alone.
func each(s schema, f func(schema) schema) {
	for key, value := range s {
		switch v := value.(type) {
		case schema:
			switch {
			case single[key]:
				s[key] = f(v)
			case named[key]:
				eachIn(v, f)
			}
		case []any:
			if lists[key] {
				for i, one := range v {
					if sub, ok := one.(schema); ok {
						v[i] = f(sub)
					}
				}
			}
		}
	}
}

func eachIn(names schema, f func(schema) schema) {
	for name, value := range names {
		if sub, ok := value.(schema); ok {
			names[name] = f(sub)
		}
	}
}

// copied is a schema that shares nothing that is changed with the first.
func copied(v any) any {
	switch v := v.(type) {
	case schema:
		next := make(schema, len(v))
		for key, value := range v {
			next[key] = copied(value)
		}
		return next
	case []any:
		next := make([]any, len(v))
		for i, value := range v {
			next[i] = copied(value)
		}
		return next
	}
	return v
}
