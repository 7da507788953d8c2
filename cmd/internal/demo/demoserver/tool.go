package demoserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// A tool is one that a server offers. All its parameters are required.
type tool struct {
	name, title, description string
	params                   []param
	readOnly                 bool
	run                      func(a args) (outcome, error) // an error is for the model to read, except ErrCrash
}

// A param is a parameter of a tool. Its type is JSON Schema's: string or number.
type param struct{ name, kind, description string }

// args are the arguments of a call that fit the tool's parameters.
type args map[string]any

func (a args) text(name string) string    { return a[name].(string) }
func (a args) number(name string) float64 { return a[name].(float64) }

// An outcome is what a tool found: a text for the model and, if it is worth it, the same for programs. One that takes its time
// is found by later, which runs beside other requests, until ctx is done.
type outcome struct {
	text       string
	structured any
	later      func(ctx context.Context, report progress) outcome
}

func text(format string, args ...any) outcome { return outcome{text: fmt.Sprintf(format, args...)} }

// A definition is a tool as it is listed.
type definition struct {
	Name        string      `json:"name"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	InputSchema schema      `json:"inputSchema"`
	Annotations annotations `json:"annotations"`
}

type schema struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type        string `json:"type"`
	Description string `json:"description"`
}

type annotations struct {
	ReadOnly  bool `json:"readOnlyHint"`
	OpenWorld bool `json:"openWorldHint"`
}

func (t *tool) definition() definition {
	properties, required := map[string]property{}, []string{}
	for _, p := range t.params {
		properties[p.name] = property{p.kind, p.description}
		required = append(required, p.name)
	}
	return definition{
		t.name, t.title, t.description,
		schema{"object", properties, required},
		annotations{ReadOnly: t.readOnly},
	}
}

func (s *server) listTools(json.RawMessage) (any, error) {
	list := make([]definition, len(s.tools))
	for i, t := range s.tools {
		list[i] = t.definition()
	}
	return map[string]any{"tools": list}, nil
}

// check says what is wrong with arguments, and what would be right.
func (t *tool) check(a args) error {
	for _, p := range t.params {
		switch kind := kindOf(a[p.name]); kind {
		case p.kind:
		case "":
			return fmt.Errorf("%s is missing: %s takes %s", p.name, t.name, t.names())
		default:
			return fmt.Errorf("%s has to be a %s", p.name, p.kind)
		}
	}
	return nil
}

func (t *tool) names() string {
	var names []string
	for _, p := range t.params {
		names = append(names, p.name)
	}
	return strings.Join(names, " and ")
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return ""
	case string:
		return "string"
	case float64:
		return "number"
	}
	return "other"
}
