package provider

import "strings"

// notes are keywords that say nothing of which values are valid, and little to a model.
var notes = words{"$id", "$comment", "title", "examples", "example", "deprecated", "readOnly", "writeOnly", "$anchor"}

// slim takes out what costs tokens and changes nothing about which values are valid.
func slim(s schema, refers bool) schema {
	if draft, ok := s["$schema"].(string); ok && (strings.Contains(draft, "2020-12") || !refers && alike(s)) {
		delete(s, "$schema")
	}
	for key := range s {
		if notes.has(key) && !(refers && (key == "$id" || key == "$anchor")) {
			delete(s, key)
		}
	}
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		if allowsAll(s[key]) {
			delete(s, key)
		}
	}
	if none, ok := s["required"].([]any); ok && len(none) == 0 {
		delete(s, "required")
	}
	if text, ok := s["description"].(string); ok {
		if s["description"] = squeezed(text); s["description"] == "" {
			delete(s, "description")
		}
	}
	if !refers {
		delete(s, "$defs")
		delete(s, "definitions")
	}
	return each(s, func(sub schema) schema { return slim(sub, refers) })
}

func allowsAll(v any) bool {
	empty, ok := v.(schema)
	return v == true || ok && len(empty) == 0
}

// squeezed is text with one space where there are several.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// refers reports whether there is a reference anywhere.
func refers(s schema) bool {
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if s[key] != nil {
			return true
		}
	}
	found := false
	each(s, func(sub schema) schema {
		found = found || refers(sub)
		return sub
	})
	return found
}

// alike reports whether a schema means the same in all drafts since the sixth.
func alike(s schema) bool {
	if _, tuple := s["items"].([]any); tuple || s["dependencies"] != nil || s["additionalItems"] != nil {
		return false
	}
	if draft, _ := s["$schema"].(string); strings.Contains(draft, "draft-04") || strings.Contains(draft, "draft-03") {
		return false
	}
	same := true
	each(s, func(sub schema) schema {
		same = same && alike(sub)
		return sub
	})
	return same
}
