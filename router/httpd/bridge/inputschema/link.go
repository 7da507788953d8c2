package inputschema

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

var types = []string{"null", "boolean", "object", "array", "number", "integer", "string"}

// link gives each schema in the document an id, under which the library finds it and names
// it in errors, and has references lead to these. So it is told here where they lead.
func (s *Schema) link() (err error) {
	if s.root.Schema, err = draft(s.root.Schema); err != nil {
		return err
	}
	s.draft7 = s.root.Schema == draft07
	s.root.ID = "" // nothing is looked up by it
	places := map[string]*jsonschema.Schema{}
	var visit func(at string, q *jsonschema.Schema) error
	visit = func(at string, q *jsonschema.Schema) error {
		if err := s.usable(q); err != nil {
			return fmt.Errorf("at %s: %w", at, err)
		}
		places[at] = q
		s.never[q] = reflect.DeepEqual(q, &jsonschema.Schema{Not: &jsonschema.Schema{}})
		s.weights[q] = weight(q)
		strip(q)
		q.ID = "s:" + strconv.Itoa(len(s.all))
		s.all = append(s.all, q)
		for _, p := range parts(q) {
			if err := visit(at+p.at, p.schema); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit("", s.root); err != nil {
		return err
	}
	for _, q := range s.all {
		if q.Ref == "" {
			continue
		}
		fragment, local := strings.CutPrefix(q.Ref, "#")
		at, err := url.PathUnescape(fragment)
		if s.targets[q] = places[at]; !local || err != nil || s.targets[q] == nil {
			return fmt.Errorf("%s is not a place in the schema", q.Ref)
		}
	}
	for q, target := range s.targets {
		end := s.end(target)
		if end == nil {
			return errCircle
		}
		q.Ref = end.ID
	}
	return nil
}

// end follows a reference of draft-07 to the schema it stands for; nil: to none. What is
// beside $ref counts for nothing there, also the id.
func (s *Schema) end(q *jsonschema.Schema) *jsonschema.Schema {
	for range len(s.all) {
		if !s.draft7 || s.targets[q] == nil {
			return q
		}
		q = s.targets[q]
	}
	return nil
}

// usable returns why the library would not do with a schema what its author meant.
func (s *Schema) usable(q *jsonschema.Schema) error {
	_, recursive := q.Extra["$recursiveRef"]
	switch {
	case q.ID != "":
		return errors.New("$id changes what references lead to")
	case recursive || q.DynamicRef != "":
		return errors.New("it is not said where a reference leads")
	case q.Type != "" && !slices.Contains(types, q.Type), q.Types != nil && !eachIn(q.Types, types):
		return fmt.Errorf("%s%s is no type", q.Type, q.Types)
	case q.Enum != nil && len(q.Enum) == 0:
		return errors.New("enum is empty")
	case q.MultipleOf != nil && (*q.MultipleOf < 1 || *q.MultipleOf != float64(int64(*q.MultipleOf))):
		return errors.New("multipleOf is not whole, so float64 has no answer")
	case q.ItemsArray != nil && !s.draft7:
		return errors.New("items is an array")
	}
	if d, err := draft(q.Schema); q.Schema != "" && (err != nil || d != s.root.Schema) {
		return errors.New("it is of more than one draft")
	}
	return s.addPatterns(q)
}

// eachIn reports whether there are some, and each is one of the others.
func eachIn(some, others []string) bool {
	return len(some) > 0 && !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(others, one) })
}

// strip takes out of a schema what is for people, and names that nothing refers to.
func strip(q *jsonschema.Schema) {
	q.Title, q.Description, q.Comment, q.Default, q.Examples, q.Extra = "", "", "", nil, nil, nil
	q.Anchor, q.DynamicAnchor = "", ""
}
