package provider

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
)

// A schema is a decoded JSON Schema that is an object. Numbers are json.Number.
type schema = map[string]any

// Keywords whose values contain schemas: one, a list of them, or one for each name.
var (
	single = []string{"items", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}
	lists  = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	named  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// each returns a copy of s in which f has replaced each schema directly below it. Other values,
// such as those of enum, do not change.
func each(s schema, f func(schema) schema) schema {
	replaced := func(v any) any {
		if sub, ok := v.(schema); ok {
			return f(sub)
		}
		return v
	}
	s = maps.Clone(s)
	for key, value := range s {
		switch v := value.(type) {
		case schema:
			if slices.Contains(single, key) {
				s[key] = f(v)
			} else if slices.Contains(named, key) {
				v = maps.Clone(v)
				for name, one := range v {
					v[name] = replaced(one)
				}
				s[key] = v
			}
		case []any:
			if slices.Contains(lists, key) {
				v = slices.Clone(v)
				for i, one := range v {
					v[i] = replaced(one)
				}
				s[key] = v
			}
		}
	}
	return s
}

// allIn yields a schema and all schemas in it.
func allIn(s schema) iter.Seq[schema] {
	return func(yield func(schema) bool) {
		more := true
		var visit func(schema) schema
		visit = func(s schema) schema {
			if more = more && yield(s); more {
				each(s, visit)
			}
			return s
		}
		visit(s)
	}
}

// modern returns a schema in the form of JSON Schema 2020-12. Servers write older drafts and make
// mistakes, and a provider that refuses one schema refuses all tools. Anthropic: "It must match
// JSON Schema draft 2020-12"; xAI: "'items' must be a schema, not an array; for tuple validation
// use 'prefixItems'"; OpenAI: "[…] is not of type 'object', 'boolean'", and "array schema missing
// items", also beside prefixItems. Keywords without an equivalent are removed.
func modern(s schema) schema {
	s = each(s, modern)
	for _, key := range []string{"$schema", "$id", "id", "$vocabulary", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "dependencies"} {
		delete(s, key)
	}
	for _, b := range bounds {
		if s[b.exclusive] == true { // as in draft 4
			s[b.exclusive] = s[b.inclusive]
			delete(s, b.inclusive)
		}
	}
	if tuple, ok := s["items"].([]any); ok {
		s["prefixItems"], s["items"] = tuple, s["additionalItems"]
	}
	delete(s, "additionalItems")
	if required, ok := s["required"].([]any); ok {
		s["required"] = union(nil, required)
	}
	for key, value := range s {
		if !isValid(key, value) {
			delete(s, key)
		}
	}
	if _, ok := s["items"].(schema); !ok && (hasType(s, "array") || s["items"] != nil || s["prefixItems"] != nil) {
		s["items"] = schema{}
	}
	return s
}

// bounds are the exclusive bounds of numbers, with the inclusive ones.
var bounds = [...]struct{ exclusive, inclusive string }{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}}

// hasType reports whether a schema has the type, alone or among others.
func hasType(s schema, name string) bool {
	all, _ := s["type"].([]any)
	return s["type"] == name || slices.Contains(all, any(name))
}

// isValid reports whether the value of a keyword has the form that 2020-12 requires. Unknown
// keywords may have any value.
func isValid(key string, value any) bool {
	switch key {
	case "type":
		return isType(value) || isList(value, isType)
	case "required":
		return isList(value, is[string])
	case "enum", "examples":
		return is[[]any](value)
	case "title", "description", "format", "pattern", "$ref", "$anchor", "$comment", "contentEncoding", "contentMediaType":
		return is[string](value)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		n, ok := value.(json.Number)
		i, err := strconv.ParseInt(n.String(), 10, 64)
		return ok && err == nil && i >= 0
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		n, ok := value.(json.Number)
		f, err := n.Float64()
		return ok && err == nil && (f > 0 || key != "multipleOf")
	case "uniqueItems", "readOnly", "writeOnly", "deprecated":
		return is[bool](value)
	case "dependentRequired":
		return isMap(value, func(v any) bool { return isList(v, is[string]) })
	}
	switch {
	case slices.Contains(named, key):
		return isMap(value, isSchema)
	case slices.Contains(single, key):
		return isSchema(value)
	case slices.Contains(lists, key):
		all, _ := value.([]any)
		return len(all) > 0 && isList(value, isSchema)
	}
	return true
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

func isType(v any) bool {
	return slices.Contains([]any{"string", "number", "integer", "boolean", "object", "array", "null"}, v)
}

func isSchema(v any) bool { return is[schema](v) || is[bool](v) }

func isList(v any, of func(any) bool) bool {
	all, ok := v.([]any)
	return ok && !slices.ContainsFunc(all, func(one any) bool { return !of(one) })
}

func isMap(v any, of func(any) bool) bool {
	all, ok := v.(schema)
	return ok && isList(slices.Collect(maps.Values(all)), of)
}

func decode(text json.RawMessage) (s schema, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&s)
	if err == nil && s == nil {
		s = schema{}
	}
	return s, err
}

func encode(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(text.Bytes()), err
}
