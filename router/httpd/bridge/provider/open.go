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
	root  schema
	nodes int // opened so far
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

// settled puts in place what references of s lead to if they lead nowhere in root, which
// has been made of the schema that they stood in.
func (o *opening) settled(s, root schema, way *trail) schema {
	if ref, ok := s["$ref"].(string); ok && at(root, ref) == nil {
		s, way = o.hop(s, way)
		return o.settled(s, root, way)
	}
	return each(s, func(sub schema) schema { return o.settled(sub, root, way) })
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
