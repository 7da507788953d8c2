package bridge

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
)

// A description is as much of openapi.json as people are shown.
type description struct {
	Info       struct{ Title, Description string }
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]json.RawMessage }
}

type operation struct {
	OperationID, Summary, Description string
	Parameters                        []parameter
	RequestBody                       struct{ Content map[string]media }
	Responses                         map[string]struct {
		Description string
		Content     map[string]media
	}
	method string
}

type parameter struct {
	Name, In, Description string
	Schema                struct {
		Type    string
		Enum    []string
		Default json.RawMessage
	}
}

type media struct{ Schema, Example json.RawMessage }

// operations are all of the API by their paths, in order.
func (d *description) operations() iter.Seq2[string, *operation] {
	return func(yield func(string, *operation) bool) {
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
				op := d.Paths[path][method]
				op.method = method
				if !yield(path, op) {
					return
				}
			}
		}
	}
}
