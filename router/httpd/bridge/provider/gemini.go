package provider

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Gemini's Schema is a part of OpenAPI 3.0's (ai.google.dev/api/caching#Schema). Any other
// keyword is an error (`Unknown name "exclusiveMinimum"`), and so is one of another type
// ("properties: only allowed for OBJECT type").
var geminiTypes = []struct {
	name    string
	keys    words // besides geminiKeys
	formats words // "only 'enum' and 'date-time' are supported for STRING type"
}{
	{"STRING", words{"enum", "pattern", "minLength", "maxLength"}, words{"enum", "date-time"}},
	{"NUMBER", words{"minimum", "maximum"}, words{"float", "double"}},
	{"INTEGER", words{"minimum", "maximum"}, words{"int32", "int64"}},
	{"ARRAY", words{"items", "minItems", "maxItems"}, nil},
	{"OBJECT", words{"properties", "required", "minProperties", "maxProperties"}, nil},
}

var geminiKeys = words{"type", "title", "description", "nullable", "format"}

// geminiType is what Gemini knows of a type: nothing of others than those.
func geminiType(name string) (keys, formats words) {
	for _, t := range geminiTypes {
		if t.name == name {
			return t.keys, t.formats
		}
	}
	return nil, nil
}

const maxDepth = 24 // of schemas within schemas

// gemini is a schema as Gemini wants one of parameters.
func gemini(s schema) schema {
	o := &opening{root: s}
	s, way := o.object()
	return o.declared(s, way, 0)
}

// within is a schema that stands in another, as Gemini wants it.
func (o *opening) within(s schema, way *trail, depth int) schema {
	s, way = o.open(s, way)
	return o.declared(s, way, depth)
}

// declared is a schema that has been opened, as Gemini wants it, and those in it.
func (o *opening) declared(s schema, way *trail, depth int) schema {
	if o.nodes++; depth > maxDepth || o.nodes > maxNodes {
		return schema{"type": "OBJECT"}
	}
	nullable(s)
	values(s)
	bounds(s)
	places(s)
	if all := o.alternatives(s, way); len(all) > 0 {
		return o.any(s, all, way, depth)
	}
	typed(s)
	own, _ := geminiType(s["type"].(string))
	for key := range s {
		if !geminiKeys.has(key) && !own.has(key) {
			delete(s, key)
		}
	}
	renamed(s, geminiKey)
	return each(s, func(sub schema) schema { return o.within(sub, way, depth+1) })
}

// any is a schema that has nothing but alternatives, with what s says besides in those:
// Vertex has "When using any_of, it must be the only field set".
func (o *opening) any(s schema, of []schema, way *trail, depth int) schema {
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

// alternatives takes those of s out of it, several types among them. What has a type
// besides is left without: of an object's alternatives, with their properties.
func (o *opening) alternatives(s schema, way *trail) (all []schema) {
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
			adopt(s, part, false)
		}
		return nil
	case s["type"] != nil || s["items"] != nil:
		return nil
	}
	return all
}

// typed writes a type as Gemini does, and gives one to what has none ("type: must be
// specified when not using one_of, any_of or all_of fields"), and items to arrays.
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
	if format, ok := s["format"].(string); ok && !formats.has(format) {
		delete(s, "format")
	}
}
