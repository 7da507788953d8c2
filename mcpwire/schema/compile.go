package schema

import (
	"errors"
	"fmt"
	"strings"

	"toolman/mcpwire/jsonschema"
)

// A Validator says what is wrong with a value, by a named definition of a schema. The value is what
// encoding/json decodes, with json.Number. Several goroutines may call it.
type Validator = func(definition string, value any) error

// A Compiler reads a schema.
type Compiler func(schema []byte) (Validator, error)

// mostProblems are named in an error.
const mostProblems = 10

// Compile is the Compiler that needs no library: package toolman/mcpwire/jsonschema. It does not
// check formats.
func Compile(text []byte) (Validator, error) {
	schema, err := jsonschema.Compile(text)
	if err != nil {
		return nil, err
	}
	return func(definition string, value any) error {
		by := schema.Definition(definition)
		if by == nil {
			return errors.New("the schema has no such definition")
		}
		found := by.CheckValue(value)
		if len(found) == 0 {
			return nil
		}
		var lines []string
		for _, p := range found[:min(len(found), mostProblems)] {
			lines = append(lines, p.String())
		}
		if more := len(found) - len(lines); more > 0 {
			lines = append(lines, fmt.Sprintf("and %d more", more))
		}
		return errors.New(strings.Join(lines, "; "))
	}, nil
}
