package provider

import "maps"

// object is a schema as OpenAI, xAI and Anthropic want one of parameters: an object at its
// root, without alternatives there. OpenAI: "schema must have type 'object' and not have
// 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level"; Anthropic: "input_schema
// does not support oneOf, allOf, or anyOf at the top level"; xAI: "tool parameter root must
// be an object type".
func object(s schema) schema {
	o := &opening{root: s}
	next, way := o.object()
	for _, key := range []string{"$defs", "definitions"} {
		if next[key] == nil && s[key] != nil {
			next[key] = s[key]
		}
	}
	return o.settled(next, within(next), way)
}

// unrolled is a schema as object makes it, without references if there are some that lead
// back to where they stand: Grok 4.6 is said to refuse those.
func unrolled(s schema) schema {
	o := &opening{root: s}
	flat := o.settled(s, func(string) bool { return false }, nil)
	if !o.turned {
		return s
	}
	delete(flat, "$defs")
	delete(flat, "definitions")
	return flat
}

// object is the root, which allows all that one of its alternatives does.
func (o *opening) object() (schema, *trail) {
	s, way := o.open(o.root, nil)
	for _, key := range []string{"anyOf", "oneOf"} {
		all, _ := s[key].([]any)
		for _, one := range all {
			if sub, ok := one.(schema); ok {
				part, _ := o.open(sub, way)
				adopt(s, part, false)
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

// adopt lets s allow what a part of it names: its properties and, if all values have to be
// as the part says, what it requires.
func adopt(s, part schema, always bool) {
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
		delete(s, "additionalProperties") // what one part forbids another may have
	}
}

// union is the names in two lists, each once.
func union(a, b []any) []any {
	all := []any{}
	seen := map[string]bool{}
	for _, list := range [][]any{a, b} {
		for _, one := range list {
			if name, ok := one.(string); ok && !seen[name] {
				all, seen[name] = append(all, name), true
			}
		}
	}
	return all
}
