package inputschema

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds on the regular expressions of a schema: "x{1000}" is a short text for a thousand
// steps, all of which may have to be taken at each character.
const (
	maxPattern = 4096   // bytes of one
	maxSteps   = 50_000 // of all
)

// A pattern is a regular expression of a schema.
type pattern struct {
	*regexp.Regexp
	steps int
}

// addPatterns compiles the regular expressions that a schema has itself.
func (s *Schema) addPatterns(q *jsonschema.Schema) error {
	if err := s.addPattern(q.Pattern); err != nil {
		return err
	}
	for expression := range q.PatternProperties {
		if err := s.addPattern(expression); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) addPattern(expression string) error {
	if _, known := s.patterns[expression]; known {
		return nil
	}
	if len(expression) > maxPattern {
		return errors.New("a regular expression is too long")
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return err
	}
	if s.steps += len(program.Inst); s.steps > maxSteps {
		return errors.New("the regular expressions are too much work")
	}
	compiled, err := regexp.Compile(expression)
	s.patterns[expression] = pattern{compiled, len(program.Inst)}
	return err
}

// cost is the work of matching a text of so many bytes, as toil.
func (p pattern) cost(bytes int) float64 { return float64(bytes) * float64(p.steps) / 100 }
