package provider

import (
	"encoding/json"
	"slices"
	"strconv"
)

// modern is a schema as JSON Schema 2020-12 writes it. Servers write older drafts, and make
// mistakes, and a provider that refuses one schema refuses all tools with it. Anthropic: "It
// must match JSON Schema draft 2020-12"; xAI: "'items' must be a schema, not an array; for
// tuple validation use 'prefixItems'"; OpenAI: "[…] is not of type 'object', 'boolean'", and
// "array schema missing items", also beside prefixItems. What has no equal is left out.
func modern(s schema) schema {
	s = each(s, modern)
	for _, key := range []string{"$schema", "$id", "id", "$vocabulary", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "dependencies"} {
		delete(s, key)
	}
	exclusive(s, "exclusiveMinimum", "minimum")
	exclusive(s, "exclusiveMaximum", "maximum")
	if tuple, ok := s["items"].([]any); ok {
		s["prefixItems"], s["items"] = tuple, s["additionalItems"]
	}
	delete(s, "additionalItems")
	if required, ok := s["required"].([]any); ok {
		s["required"] = union(nil, required)
	}
	for key, value := range s {
		if !fits(key, value) {
			delete(s, key)
		}
	}
	if _, ok := s["items"].(schema); !ok && (may(s, "array") || s["items"] != nil || s["prefixItems"] != nil) {
		s["items"] = schema{}
	}
	return s
}

// exclusive rewrites what draft 4 has: a bound, and whether it is itself left out.
func exclusive(s schema, key, bound string) {
	if s[key] == true {
		s[key] = s[bound]
		delete(s, bound)
	}
}

// may reports whether a schema names the type, alone or with others.
func may(s schema, name string) bool {
	all, _ := s["type"].([]any)
	return s["type"] == name || slices.Contains(all, any(name))
}

// fits reports whether a keyword's value is of the form that 2020-12 gives it. Other
// keywords may have any.
func fits(key string, value any) bool {
	switch key {
	case "type":
		return isType(value) || isList(value, isType)
	case "required":
		return isList(value, isText)
	case "enum", "examples":
		_, ok := value.([]any)
		return ok
	case "title", "description", "format", "pattern", "$ref", "$anchor", "$comment", "contentEncoding", "contentMediaType":
		return isText(value)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		return isCount(value)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return isNumber(value)
	case "multipleOf":
		n, ok := value.(json.Number)
		f, err := n.Float64()
		return ok && err == nil && f > 0
	case "uniqueItems", "readOnly", "writeOnly", "deprecated":
		_, ok := value.(bool)
		return ok
	case "dependentRequired":
		return isMap(value, func(v any) bool { return isList(v, isText) })
	}
	switch {
	case named.has(key):
		return isMap(value, isSchema)
	case single.has(key):
		return isSchema(value)
	case lists.has(key):
		all, ok := value.([]any)
		return ok && len(all) > 0 && isList(value, isSchema)
	}
	return true
}

func isType(v any) bool {
	return slices.Contains([]any{"string", "number", "integer", "boolean", "object", "array", "null"}, v)
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

func isSchema(v any) bool {
	switch v.(type) {
	case schema, bool:
		return true
	}
	return false
}

func isCount(v any) bool {
	n, ok := v.(json.Number)
	i, err := strconv.ParseInt(n.String(), 10, 64)
	return ok && err == nil && i >= 0
}

func isNumber(v any) bool {
	n, ok := v.(json.Number)
	_, err := n.Float64()
	return ok && err == nil
}

func isList(v any, of func(any) bool) bool {
	all, ok := v.([]any)
	return ok && !slices.ContainsFunc(all, func(one any) bool { return !of(one) })
}

func isMap(v any, of func(any) bool) bool {
	all, ok := v.(schema)
	for _, one := range all {
		ok = ok && of(one)
	}
	return ok
}
