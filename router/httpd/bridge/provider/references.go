package provider

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
)

const (
	maxNodes = 4_000 // schemas in the result of resolving references
	maxTurns = 2     // levels of a recursive schema
)

// A resolver resolves the references in a schema.
type resolver struct {
	root   schema
	nodes  int  // resolved so far
	turned bool // there is a recursive schema
}

// A trail is the list of references that led to a place, the last one first.
type trail struct {
	ref    string
	before *trail
}

func (t *trail) times(ref string) (n int) {
	for ; t != nil; t = t.before {
		if t.ref == ref {
			n++
		}
	}
	return n
}

// open returns a schema with its reference resolved and its allOf merged. Recursion ends after some
// levels. The schema then allows more than before.
func (o *resolver) open(s schema, way *trail) (schema, *trail) {
	s = maps.Clone(s)
	for s["$ref"] != nil {
		s, way = o.follow(s, way)
	}
	all, _ := s["allOf"].([]any)
	delete(s, "allOf")
	for _, one := range all {
		if part, ok := one.(schema); ok {
			part, way = o.open(part, way)
			join(s, part)
		}
	}
	return s, way
}

// follow returns the target of a schema's reference, with the description beside the reference.
func (o *resolver) follow(s schema, way *trail) (schema, *trail) {
	o.nodes++
	ref, _ := s["$ref"].(string)
	found, _ := at(o.root, ref).(schema)
	next := maps.Clone(found)
	o.turned = o.turned || way.times(ref) > 0
	if found == nil || o.nodes > maxNodes || way.times(ref) >= maxTurns {
		next = schema{}
		if found["type"] != nil {
			next["type"] = found["type"]
		}
	}
	if text := s["description"]; text != nil {
		next["description"] = text
	}
	return next, &trail{ref, way}
}

// at returns the target of a reference within a schema; nil if there is none.
func at(root schema, ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil
	}
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	var v any = root
	for _, name := range strings.Split(pointer, "/")[1:] {
		switch in := v.(type) {
		case schema:
			v = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		case []any:
			place, err := strconv.Atoi(name)
			if err != nil || place < 0 || place >= len(in) {
				return nil
			}
			v = in[place]
		default:
			return nil
		}
	}
	return v
}

// inline replaces references in s by their targets, except those that stay.
func (o *resolver) inline(s schema, stays func(ref string) bool, way *trail) schema {
	if ref, ok := s["$ref"].(string); ok && !stays(ref) {
		s, way = o.follow(s, way)
		return o.inline(s, stays, way)
	}
	return each(s, func(sub schema) schema { return o.inline(sub, stays, way) })
}

// within returns a function that reports whether a reference has a target in a schema.
func within(root schema) func(ref string) bool {
	return func(ref string) bool { return at(root, ref) != nil }
}

// join adds the keywords of another schema that s does not have.
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
		merge(s, other, true)
	}
}
