package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Gemini's Schema is a part of OpenAPI 3.0's (ai.google.dev/api/caching#Schema, and
// FunctionDeclaration beside it): other keywords are errors.
var geminiKeys = set("type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties", "required",
	"minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf")

// geminiFormats are the formats that it takes, by type.
var geminiFormats = map[string][]string{"STRING": {"enum", "date-time"}, "NUMBER": {"float", "double"}, "INTEGER": {"int32", "int64"}}

const (
	maxDepth = 24    // of schemas within schemas, what refers to itself included
	maxNodes = 4_000 // schemas that a tool's may become when its references are followed
)

// An opening follows a schema's references and leaves what Gemini takes.
type opening struct {
	root  schema
	nodes int
}

// gemini is a schema as Gemini wants one.
func gemini(s schema) schema {
	o := &opening{root: s}
	root := object(o.open(copied(s).(schema), 0))
	return typed(o.leave(root, 0))
}

// open follows references, and joins what allOf has.
func (o *opening) open(s schema, depth int) schema {
	o.nodes++
	for hops := 0; s["$ref"] != nil && hops < maxDepth; hops++ {
		to, _ := s["$ref"].(string)
		found, _ := o.at(to).(schema)
		next, _ := copied(found).(schema)
		if next == nil {
			next = schema{}
		}
		if text := s["description"]; text != nil {
			next["description"] = text
		}
		s = next
	}
	delete(s, "$ref")
	all, _ := s["allOf"].([]any)
	delete(s, "allOf")
	for _, one := range all {
		if part, ok := one.(schema); ok && depth < maxDepth {
			join(s, o.open(part, depth+1))
		}
	}
	return s
}

// at is what a reference within the schema leads to.
func (o *opening) at(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	var v any = o.root
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if name == "" {
			continue
		}
		m, _ := v.(schema)
		v = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return v
}

// join adds what another schema says and s does not.
func join(s, other schema) {
	for key, value := range other {
		switch key {
		case "properties", "required", "additionalProperties":
		default:
			if s[key] == nil {
				s[key] = value
			}
		}
	}
	if other["properties"] != nil || other["required"] != nil {
		adopt(s, other, true)
	}
}

// leave leaves of a schema, and of those in it, what Gemini takes.
func (o *opening) leave(s schema, depth int) schema {
	if depth > maxDepth || o.nodes > maxNodes {
		return schema{"type": "object"}
	}
	alternatives(s)
	types(s)
	values(s)
	for key := range s {
		if !geminiKeys[key] {
			delete(s, key)
		}
	}
	if s["items"] != nil {
		if _, ok := s["items"].(schema); !ok {
			s["items"] = schema{} // items = true, or one for each place
		}
	}
	if properties, ok := s["properties"].(schema); ok {
		for name, value := range properties {
			if _, ok := value.(schema); !ok {
				properties[name] = schema{}
			}
		}
		keys(s, geminiName())
	} else {
		delete(s, "properties")
	}
	each(s, func(sub schema) schema { return typed(o.leave(o.open(sub, depth+1), depth+1)) })
	return s
}

// geminiName is how Gemini wants properties called.
func geminiName() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`) }

// alternatives makes oneOf, and several types, anyOf.
func alternatives(s schema) {
	if one, ok := s["oneOf"].([]any); ok && s["anyOf"] == nil {
		s["anyOf"] = one
	}
	any_, _ := s["anyOf"].([]any)
	any_ = slices.DeleteFunc(slices.Clone(any_), func(v any) bool {
		sub, ok := v.(schema)
		if ok && sub["type"] == "null" {
			s["nullable"] = true
		}
		return !ok || sub["type"] == "null"
	})
	if delete(s, "anyOf"); len(any_) > 0 {
		s["anyOf"] = any_
	}
}

// types makes null a flag, and of several types one each.
func types(s schema) {
	all, ok := s["type"].([]any)
	if !ok {
		return
	}
	var left []any
	for _, one := range all {
		if one == "null" {
			s["nullable"] = true
		} else {
			left = append(left, one)
		}
	}
	delete(s, "type")
	switch {
	case len(left) == 1:
		s["type"] = left[0]
	case len(left) > 1 && s["anyOf"] == nil:
		var each []any
		for _, one := range left {
			each = append(each, schema{"type": one})
		}
		s["anyOf"] = each
	}
}

// values leaves enums of strings, which are all that Gemini has, and tells others.
func values(s schema) {
	if c, ok := s["const"]; ok && s["enum"] == nil {
		s["enum"] = []any{c}
	}
	all, ok := s["enum"].([]any)
	if !ok {
		return
	}
	strings := slices.DeleteFunc(slices.Clone(all), func(v any) bool { _, ok := v.(string); return !ok || v == "" })
	if len(strings) == len(all) && len(all) > 0 {
		s["enum"], s["type"] = strings, "string"
		return
	}
	delete(s, "enum")
	if text, err := json.Marshal(all); err == nil {
		said, _ := s["description"].(string)
		s["description"] = squeezed(fmt.Sprintf("%s One of %s", said, text))
	}
}

// typed writes a type as Gemini does, and gives one to what has none.
func typed(s schema) schema {
	name, _ := s["type"].(string)
	switch {
	case name != "":
	case s["anyOf"] != nil:
		return s
	case s["properties"] != nil:
		name = "object"
	case s["items"] != nil:
		name = "array"
	default:
		name = "string"
	}
	name = strings.ToUpper(name)
	if s["type"] = name; name == "ARRAY" && s["items"] == nil {
		s["items"] = schema{"type": "STRING"}
	}
	if format, ok := s["format"].(string); s["format"] != nil && (!ok || !slices.Contains(geminiFormats[name], format)) {
		delete(s, "format")
	}
	return s
}
