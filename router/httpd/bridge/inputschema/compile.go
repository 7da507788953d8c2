package inputschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Schema is ready to have arguments held against it. It is safe for use by several
// goroutines.
type Schema struct {
	// immutable after Compile
	root     *jsonschema.Schema
	draft7   bool
	all      []*jsonschema.Schema                      // of which it is made
	targets  map[*jsonschema.Schema]*jsonschema.Schema // of references
	patterns map[string]pattern                        // by their text
	reaches  map[*jsonschema.Schema]*reach             // see reach.go
	never    map[*jsonschema.Schema]bool               // those that are false
	steps    int                                       // of all patterns
	weights  map[*jsonschema.Schema]float64            // see toil.go
	depth    int                                       // of the deepest reach
	whole    *jsonschema.Resolved                      // for arguments
	each     func() (*jsonschema.Resolved, error)      // for what is in them; see explain.go
}

// Compile makes a schema ready, of 2020-12 unless it says of which draft it is. An error
// is why it cannot be used.
func Compile(inputSchema []byte) (s *Schema, err error) {
	defer func() {
		if p := recover(); p != nil { // the library's
			s, err = nil, fmt.Errorf("%v", p)
		}
	}()
	if err := modest(inputSchema); err != nil {
		return nil, err
	}
	s = &Schema{
		root:     new(jsonschema.Schema),
		targets:  map[*jsonschema.Schema]*jsonschema.Schema{},
		patterns: map[string]pattern{},
		never:    map[*jsonschema.Schema]bool{},
		weights:  map[*jsonschema.Schema]float64{},
		reaches:  map[*jsonschema.Schema]*reach{},
	}
	if err := json.Unmarshal(inputSchema, s.root); err != nil {
		return nil, err
	}
	if err := s.link(); err != nil {
		return nil, err
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	if s.whole, err = s.root.Resolve(nil); err != nil {
		return nil, err
	}
	s.each = sync.OnceValues(s.dispatcher)
	return s, nil
}

// The drafts that the library has, and those that mean the same but for what is refused
// elsewhere, or never met.
const (
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
	draft07   = "http://json-schema.org/draft-07/schema#"
)

// draft returns the draft that a schema is of, in the library's spelling.
func draft(said string) (string, error) {
	_, name, _ := strings.Cut(strings.TrimSuffix(said, "#"), "://")
	switch name {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema":
		return draft2020, nil
	case "json-schema.org/draft-07/schema", "json-schema.org/draft-06/schema":
		return draft07, nil
	}
	if said == "" {
		return draft2020, nil
	}
	return "", fmt.Errorf("schemas of %s are not known", said)
}
