package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// nullable makes null a flag: Gemini has it as neither type nor value.
func nullable(s schema) {
	null := s["nullable"] == true
	isNull := func(v any) bool {
		sub, _ := v.(schema)
		is := v == nil || v == "null" || sub["type"] == "null"
		null = null || is
		return is
	}
	if name, ok := s["type"].(string); ok {
		s["type"] = []any{name}
	}
	for _, key := range []string{"type", "enum", "anyOf", "oneOf"} {
		if all, ok := s[key].([]any); ok {
			s[key] = slices.DeleteFunc(slices.Clone(all), isNull)
		}
	}
	switch types, _ := s["type"].([]any); len(types) {
	case 0:
		delete(s, "type")
	case 1:
		s["type"] = types[0]
	}
	if delete(s, "nullable"); null {
		s["nullable"] = true
	}
}

// values leaves enums of strings, which are all that Gemini has, and tells others.
func values(s schema) {
	if c, ok := s["const"]; ok {
		s["enum"] = []any{c}
	}
	all, ok := s["enum"].([]any)
	if !ok {
		return
	}
	if !slices.ContainsFunc(all, func(v any) bool { return v == "" || !isText(v) }) && len(all) > 0 {
		s["type"] = "string"
		return
	}
	delete(s, "enum")
	if text, err := json.Marshal(all); err == nil && len(all) > 0 {
		said, _ := s["description"].(string)
		s["description"] = squeezed(fmt.Sprintf("%s One of %s", said, text))
	}
}

// bounds widens those that are themselves left out: Gemini has no such ones.
func bounds(s schema) {
	for bound, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		if s[bound] == nil && s[exclusive] != nil {
			s[bound] = s[exclusive]
		}
	}
}

// places makes what stands in each place of a list what may stand in any: Gemini has
// "items" alone. It makes schemas of those that are true.
func places(s schema) {
	if prefix, ok := s["prefixItems"].([]any); ok {
		var all []any
		for _, one := range prefix {
			if _, ok := one.(schema); ok && !slices.ContainsFunc(all, func(v any) bool { return reflect.DeepEqual(v, one) }) {
				all = append(all, one)
			}
		}
		if rest, ok := s["items"].(schema); ok && len(rest) > 0 {
			all = append(all, rest)
		}
		s["items"] = schema{"anyOf": all}
	}
	if properties, ok := s["properties"].(schema); ok {
		properties = maps.Clone(properties)
		for name, value := range properties {
			if value == true || value == false {
				properties[name] = schema{}
			}
		}
		s["properties"] = properties
	}
}
