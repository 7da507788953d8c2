package provider

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
)

const (
	maxNodes = 4_000 // schemas that a tool's may become when its references are followed
	maxTurns = 2     // how often what refers to itself stands within itself
)

// An opening follows the references of a schema.
type opening struct {
	root   schema
	nodes  int  // opened so far
	turned bool // whether something refers to itself
}

// A trail is the references that led to a place, the last one first.
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

// open is a schema with what its reference leads to in its place, and with what its allOf
// has. Where that would never end it stops, and more is allowed than the schema does.
func (o *opening) open(s schema, way *trail) (schema, *trail) {
	s = maps.Clone(s)
	for s["$ref"] != nil {
		s, way = o.hop(s, way)
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

// hop is what a reference leads to, with the description that stands beside it.
func (o *opening) hop(s schema, way *trail) (schema, *trail) {
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

// at is what a reference within a schema leads to, nil if that is nothing.
func at(root schema, ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil
	}
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	var v any = root
	for i, name := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
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

// settled puts in place what references in s lead to, but for those that stay.
func (o *opening) settled(s schema, stays func(ref string) bool, way *trail) schema {
	if ref, ok := s["$ref"].(string); ok && !stays(ref) {
		s, way = o.hop(s, way)
		return o.settled(s, stays, way)
	}
	return each(s, func(sub schema) schema { return o.settled(sub, stays, way) })
}

// within says which references lead somewhere in a schema.
func within(root schema) func(ref string) bool {
	return func(ref string) bool { return at(root, ref) != nil }
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
