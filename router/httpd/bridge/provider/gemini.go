package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Gemini's Schema is a subset of OpenAPI 3.0's (ai.google.dev/api/caching#Schema). Any other
// keyword is an error (`Unknown name "exclusiveMinimum"`), and so is a keyword of another type
// ("properties: only allowed for OBJECT type").
var geminiTypes = []struct {
	name    string
	keys    []string // besides geminiKeys
	formats []string // "only 'enum' and 'date-time' are supported for STRING type"
}{
	{"STRING", []string{"enum", "pattern", "minLength", "maxLength"}, []string{"enum", "date-time"}},
	{"NUMBER", []string{"minimum", "maximum"}, []string{"float", "double"}},
	{"INTEGER", []string{"minimum", "maximum"}, []string{"int32", "int64"}},
	{"ARRAY", []string{"items", "minItems", "maxItems"}, nil},
	{"OBJECT", []string{"properties", "required", "minProperties", "maxProperties"}, nil},
}

var geminiKeys = []string{"type", "title", "description", "nullable", "format"}

// geminiType returns the keywords and formats of a type; none for an unknown type.
func geminiType(name string) (keys, formats []string) {
	for _, t := range geminiTypes {
		if t.name == name {
			return t.keys, t.formats
		}
	}
	return nil, nil
}

const maxDepth = 24 // of nested schemas

// gemini returns a schema in the form that Gemini requires of parameters.
func gemini(s schema) schema {
	o := &resolver{root: s}
	s, way := o.object()
	return o.declared(s, way, 0)
}

// within returns a schema in another schema in the form that Gemini requires.
func (o *resolver) within(s schema, way *trail, depth int) schema {
	s, way = o.open(s, way)
	return o.declared(s, way, depth)
}

// declared returns a schema whose reference is resolved, and those in it, in the form that Gemini
// requires.
func (o *resolver) declared(s schema, way *trail, depth int) schema {
	if o.nodes++; depth > maxDepth || o.nodes > maxNodes {
		return schema{"type": "OBJECT"}
	}
	nullable(s)
	values(s)
	for _, b := range bounds { // Gemini has no exclusive ones
		if s[b.inclusive] == nil && s[b.exclusive] != nil {
			s[b.inclusive] = s[b.exclusive]
		}
	}
	places(s)
	if all := o.alternatives(s, way); len(all) > 0 {
		return o.any(s, all, way, depth)
	}
	typed(s)
	own, _ := geminiType(s["type"].(string))
	for key := range s {
		if !slices.Contains(geminiKeys, key) && !slices.Contains(own, key) {
			delete(s, key)
		}
	}
	renamed(s, geminiKey)
	return each(s, func(sub schema) schema { return o.within(sub, way, depth+1) })
}

// any returns a schema that has only alternatives. Other keywords of s become part of them. Vertex:
// "When using any_of, it must be the only field set".
func (o *resolver) any(s schema, of []schema, way *trail, depth int) schema {
	var all []any
	for _, one := range of {
		one = o.within(one, way, depth+1)
		parts, ok := one["anyOf"].([]any)
		if !ok {
			parts = []any{one}
		}
		for _, part := range parts {
			if !slices.ContainsFunc(all, func(v any) bool { return reflect.DeepEqual(v, part) }) {
				all = append(all, part)
			}
		}
	}
	first := all[0].(schema)
	text, _ := s["description"].(string)
	more, _ := first["description"].(string)
	if text = strings.TrimSpace(text + " " + more); text != "" {
		first["description"] = text
	}
	for _, one := range all {
		if s["nullable"] == true {
			one.(schema)["nullable"] = true
		}
	}
	if len(all) == 1 {
		return first
	}
	return schema{"anyOf": all}
}

// alternatives removes the alternatives from s and returns them. Several types are alternatives
// too. If s has a type, the alternatives are dropped; those of an object are merged into it.
func (o *resolver) alternatives(s schema, way *trail) (all []schema) {
	if types, ok := s["type"].([]any); ok {
		for _, name := range types {
			one := maps.Clone(s)
			for _, key := range []string{"anyOf", "oneOf", "description", "nullable", "title"} {
				delete(one, key)
			}
			one["type"] = name
			all = append(all, one)
		}
		return all
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, _ := s[key].([]any)
		for _, one := range list {
			if sub, ok := one.(schema); ok {
				all = append(all, sub)
			}
		}
		delete(s, key)
	}
	switch {
	case s["type"] == "object" || s["properties"] != nil:
		for _, one := range all {
			part, _ := o.open(one, way)
			merge(s, part, false)
		}
		return nil
	case s["type"] != nil || s["items"] != nil:
		return nil
	}
	return all
}

// typed writes the type in Gemini's form, and adds it if it is missing ("type: must be specified
// when not using one_of, any_of or all_of fields"). It adds items to arrays.
func typed(s schema) {
	name, _ := s["type"].(string)
	switch {
	case name != "":
	case s["properties"] != nil:
		name = "object"
	case s["items"] != nil:
		name = "array"
	case s["minimum"] != nil || s["maximum"] != nil:
		name = "number"
	default:
		name = "string"
	}
	name = strings.ToUpper(name)
	s["type"] = name
	if _, ok := s["items"].(schema); !ok && name == "ARRAY" {
		s["items"] = schema{}
	}
	_, formats := geminiType(name)
	if format, ok := s["format"].(string); ok && !slices.Contains(formats, format) {
		delete(s, "format")
	}
}

// nullable replaces the type and value null by a flag, as Gemini requires.
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

// values keeps enums of strings, which Gemini supports, and moves others to the description.
func values(s schema) {
	if c, ok := s["const"]; ok {
		s["enum"] = []any{c}
	}
	all, ok := s["enum"].([]any)
	if !ok {
		return
	}
	if !slices.ContainsFunc(all, func(v any) bool { return v == "" || !is[string](v) }) && len(all) > 0 {
		s["type"] = "string"
		return
	}
	delete(s, "enum")
	if text, err := json.Marshal(all); err == nil && len(all) > 0 {
		said, _ := s["description"].(string)
		s["description"] = squeezed(fmt.Sprintf("%s One of %s", said, text))
	}
}

// places replaces schemas for each place of an array by one for all places, because Gemini has only
// "items". It replaces properties that are true or false by schemas.
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
