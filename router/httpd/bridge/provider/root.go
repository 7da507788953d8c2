package provider

import "regexp"

// object is a schema as OpenAI, xAI and Anthropic want one of parameters: an object at its
// root, without alternatives there (OpenAI: "schema must have type 'object' and not have
// 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"; Anthropic: "input_schema does not
// support oneOf, allOf, or anyOf at the top level"), and arrays that say what they hold
// (OpenAI: "array schema missing items").
func object(s schema) schema {
	for _, alternatives := range []string{"anyOf", "oneOf", "allOf"} {
		all, _ := s[alternatives].([]any)
		for _, one := range all {
			if sub, ok := one.(schema); ok {
				adopt(s, sub, alternatives == "allOf")
			}
		}
		delete(s, alternatives)
	}
	for _, key := range []string{"enum", "const", "not", "if", "then", "else", "$ref"} {
		delete(s, key)
	}
	s["type"] = "object"
	if _, ok := s["properties"].(schema); !ok {
		s["properties"] = schema{}
	}
	return arrays(s)
}

// adopt lets s allow what a part of it names: its properties and, if all values have to be
// as the part says, what it requires.
func adopt(s, part schema, always bool) {
	theirs, _ := part["properties"].(schema)
	ours, _ := s["properties"].(schema)
	if ours == nil {
		ours = schema{}
	}
	for name, value := range theirs {
		if ours[name] == nil {
			ours[name] = value
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

func union(a, b []any) []any {
	all := append([]any{}, a...)
	seen := map[any]bool{}
	for _, one := range all {
		if name, ok := one.(string); ok {
			seen[name] = true
		}
	}
	for _, one := range b {
		if name, ok := one.(string); ok && !seen[name] {
			all, seen[name] = append(all, name), true
		}
	}
	return all
}

// arrays gives arrays items.
func arrays(s schema) schema {
	if s["type"] == "array" && s["items"] == nil && s["prefixItems"] == nil {
		s["items"] = schema{}
	}
	each(s, arrays)
	return s
}

// keys leaves properties at the root only such names, and takes others from what is
// required: a model that is not told of one cannot give it.
func keys(s schema, form *regexp.Regexp) {
	properties, _ := s["properties"].(schema)
	for name := range properties {
		if !form.MatchString(name) {
			delete(properties, name)
		}
	}
	required, ok := s["required"].([]any)
	if !ok {
		return
	}
	var left []any
	for _, one := range required {
		if name, ok := one.(string); ok && properties[name] != nil {
			left = append(left, name)
		}
	}
	if s["required"] = left; left == nil {
		delete(s, "required")
	}
}
