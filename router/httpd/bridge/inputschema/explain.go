package inputschema

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxFound bounds the places that are looked for.
const maxFound = 100

// A Problem is one place where arguments are wrong.
type Problem struct {
	Path    string `json:"path"` // a JSON pointer (RFC 6901) into the arguments, "" for all of them
	Message string `json:"message"`
}

// String is the problem on a line.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return "at " + p.Path + ": " + p.Message
}

// Check returns where arguments are wrong; nothing also when that cannot be told, or would
// take too long. Names and texts in it are the caller's and the server's: not clean.
func (s *Schema) Check(arguments []byte) (found []Problem) {
	defer func() {
		if recover() != nil { // the library's
			found = nil
		}
	}()
	v, ok := decode(arguments)
	if !ok || s.toil(s.root, v, len(arguments)) > maxToil || s.whole.Validate(v) == nil {
		return nil
	}
	each, err := s.each()
	if err != nil {
		return nil
	}
	x := explainer{s: s, each: each, bytes: len(arguments), room: 2 * maxToil}
	for _, p := range x.at(s.root, v, "") {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return []Problem{{"", "are not as the schema wants them"}}
	}
	return found
}

// dispatcher makes what holds a value against any one of the schemas, by the id of that:
// the only member of an object.
func (s *Schema) dispatcher() (*jsonschema.Resolved, error) {
	d := &jsonschema.Schema{
		Schema:     s.root.Schema,
		Defs:       map[string]*jsonschema.Schema{"all": s.root},
		Properties: make(map[string]*jsonschema.Schema, len(s.all)),
	}
	for _, q := range s.all {
		d.Properties[q.ID] = &jsonschema.Schema{Ref: s.end(q).ID}
	}
	return d.Resolve(nil)
}

// An explainer walks a value and its schema together, as far as keywords say which part of
// the one is for which part of the other.
type explainer struct {
	s     *Schema
	each  *jsonschema.Resolved
	bytes int     // of the arguments
	room  float64 // for toil; when it is used up, places are no more exact
	found int     // places
}

// at returns what is wrong with a value: in the places where it is, or just here.
func (x *explainer) at(q *jsonschema.Schema, v any, path string) []Problem {
	q = x.s.end(q)
	x.room -= x.s.toil(q, v, x.bytes) + float64(len(x.s.all))/8
	if x.room < 0 || x.found >= maxFound {
		return nil
	}
	err := x.each.Validate(map[string]any{q.ID: v})
	if err == nil {
		return nil
	}
	found := x.same(q, v, path)
	switch v := v.(type) {
	case object:
		found = append(found, x.members(q, v, path)...)
	case array:
		for i, element := range v {
			if p := x.s.element(q, i); p != nil {
				found = append(found, x.at(p, element, path+"/"+strconv.Itoa(i))...)
			}
		}
	}
	if len(found) == 0 {
		found = []Problem{{path, say(q, err)}}
		x.found++
	}
	return found
}

// same returns what is wrong by the schemas that are for the same value.
func (x *explainer) same(q *jsonschema.Schema, v any, path string) (found []Problem) {
	all := slices.Clone(q.AllOf)
	if target := x.s.targets[q]; target != nil {
		all = append(all, target)
	}
	if q.If != nil {
		chosen := q.Then
		if x.at(q.If, v, path) != nil {
			chosen = q.Else
		}
		all = append(all, chosen)
	}
	if v, is := v.(object); is {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, q.DependentSchemas[name], q.DependencySchemas[name])
		}
	}
	for _, p := range all {
		if p != nil {
			found = append(found, x.at(p, v, path)...)
		}
	}
	found = append(found, x.alternatives(q.AnyOf, v, path)...)
	return append(found, x.alternatives(q.OneOf, v, path)...)
}

// alternatives returns what is wrong with a value that fits none. Where some of them are
// wrong only further in, these are meant, and others are left out.
func (x *explainer) alternatives(all []*jsonschema.Schema, v any, path string) (found []Problem) {
	var further []Problem
	for _, p := range all {
		problems := x.at(p, v, path)
		if len(problems) == 0 {
			return nil
		}
		found = append(found, problems...)
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Path == path }) {
			further = append(further, problems...)
		}
	}
	if further != nil {
		return further
	}
	return found
}

// members returns what is wrong with the members of an object, and which are missing.
func (x *explainer) members(q *jsonschema.Schema, v object, path string) (found []Problem) {
	for _, name := range q.Required {
		if _, has := v[name]; !has {
			found = append(found, Problem{path, "missing property " + quoted(name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if q.PropertyNames != nil && x.at(q.PropertyNames, text(name), path) != nil {
			found = append(found, Problem{path, "the name " + quoted(name) + " is not one that the schema allows"})
		}
		x.s.member(q, name, func(p *jsonschema.Schema) {
			if p == q.AdditionalProperties && x.s.never[p] {
				found = append(found, Problem{path, "unexpected property " + quoted(name)})
				return
			}
			found = append(found, x.at(p, v[name], path+"/"+escape(name))...)
		})
	}
	return found
}

// cause is what the library says of a schema itself; false: it is of one that was looked
// at for that. It names each schema on the way: the dispatcher, its member, and this one.
func cause(err error) (text string, own bool) {
	levels := 0
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error(), levels == 3
		}
		err, levels = inner, levels+1
	}
}
