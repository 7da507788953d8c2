package provider

import (
	"maps"
	"reflect"
	"slices"
)

// object returns a schema in the form that OpenAI, xAI and Anthropic require of parameters: an
// object without alternatives at its root. OpenAI: "schema must have type 'object' and not have
// 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level"; Anthropic: "input_schema does not
// support oneOf, allOf, or anyOf at the top level"; xAI: "tool parameter root must be an object
// type".
func object(s schema) schema {
	o := &resolver{root: s}
	next, way := o.object()
	for _, key := range []string{"$defs", "definitions"} {
		if next[key] == nil && s[key] != nil {
			next[key] = s[key]
		}
	}
	return o.inline(next, within(next), way)
}

// unrolled returns the result of object without references, if some of them are recursive: Grok 4.6
// is said to refuse those.
func unrolled(s schema) schema {
	o := &resolver{root: s}
	flat := o.inline(s, func(string) bool { return false }, nil)
	if !o.turned {
		return s
	}
	delete(flat, "$defs")
	delete(flat, "definitions")
	return flat
}

// object returns the root of the schema. It allows everything that one of its alternatives allows.
func (o *resolver) object() (schema, *trail) {
	s, way := o.open(o.root, nil)
	for _, key := range []string{"anyOf", "oneOf"} {
		all, _ := s[key].([]any)
		for _, one := range all {
			if sub, ok := one.(schema); ok {
				part, _ := o.open(sub, way)
				merge(s, part, false)
			}
		}
		delete(s, key)
	}
	for _, key := range []string{"enum", "const", "not", "if", "then", "else"} {
		delete(s, key)
	}
	s["type"] = "object"
	if s["properties"] == nil {
		s["properties"] = schema{}
	}
	return s, way
}

// merge adds the properties of a part of s to s. If the part applies to all values, it also adds
// the required properties.
func merge(s, part schema, always bool) {
	theirs, _ := part["properties"].(schema)
	ours, _ := s["properties"].(schema)
	if ours = maps.Clone(ours); ours == nil {
		ours = schema{}
	}
	for name, value := range theirs {
		switch {
		case ours[name] == nil:
			ours[name] = value
		case always:
			ours[name] = both("allOf", ours[name], value)
		default:
			ours[name] = both("anyOf", ours[name], value)
		}
	}
	s["properties"] = ours
	if required, ok := part["required"].([]any); ok && always {
		already, _ := s["required"].([]any)
		s["required"] = union(already, required)
	}
	if part["additionalProperties"] != nil || s["additionalProperties"] != nil {
		delete(s, "additionalProperties") // another part may have the properties that one forbids
	}
}

// union returns the names in two lists, each once.
func union(a, b []any) []any {
	all := []any{}
	seen := map[string]bool{}
	for _, one := range slices.Concat(a, b) {
		if name, ok := one.(string); ok && !seen[name] {
			all, seen[name] = append(all, name), true
		}
	}
	return all
}

// both combines two schemas of the same property under allOf or anyOf.
func both(key string, a, b any) any {
	if reflect.DeepEqual(a, b) {
		return a
	}
	if key == "anyOf" {
		if one, ok := choice(a, b); ok {
			return one
		}
	}
	all := []any{a}
	if s, ok := a.(schema); ok && len(s) == 1 {
		if parts, ok := s[key].([]any); ok {
			all = slices.Clone(parts)
		}
	}
	if !slices.ContainsFunc(all, func(one any) bool { return reflect.DeepEqual(one, b) }) {
		all = append(all, b)
	}
	return schema{key: all}
}

// choice combines two schemas that list values: alternatives are distinguished by such properties.
func choice(a, b any) (schema, bool) {
	first, typeOfFirst := options(a)
	second, typeOfSecond := options(b)
	if first == nil || second == nil || typeOfFirst != typeOfSecond {
		return nil, false
	}
	all := slices.Clone(first)
	for _, value := range second {
		if !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	one := schema{"enum": all}
	if typeOfFirst != "" {
		one["type"] = typeOfFirst
	}
	return one, true
}

// options returns the values that a schema lists, if it has no other keyword except their type. The
// values are not objects or arrays.
func options(v any) (values []any, name string) {
	s, _ := v.(schema)
	for key, value := range s {
		switch key {
		case "const":
			values = []any{value}
		case "enum":
			values, _ = value.([]any)
		case "type":
			name, _ = value.(string)
		default:
			return nil, ""
		}
	}
	if slices.ContainsFunc(values, func(v any) bool { return v != nil && !reflect.TypeOf(v).Comparable() }) {
		return nil, ""
	}
	return values, name
}
