package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Format is the form of tools and calls in a provider's API.
type Format string

// The formats.
const (
	OpenAI    Format = "openai"           // Chat Completions
	Responses Format = "openai-responses" // OpenAI's Responses API
	Anthropic Format = "anthropic"        // Messages
	Gemini    Format = "gemini"           // generateContent
	XAI       Format = "xai"              // like OpenAI
	MCP       Format = "mcp"              // the elements of tools/list
)

// Formats returns all formats.
func Formats() []Format { return []Format{OpenAI, Responses, Anthropic, Gemini, XAI, MCP} }

// ParseFormat returns the format with this name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("there is no format %q; there are openai, openai-responses, anthropic, gemini, xai and mcp", name)
}

// A Tool is a tool that a model may call.
type Tool struct {
	Name        string // see Name
	Description string
	Schema      json.RawMessage // of its arguments, an object
	Raw         json.RawMessage // the element of tools/list, with Name
}

// maxDescription is the maximum length of a description for OpenAI, in bytes: "Expected a string
// with maximum length 1024".
const maxDescription = 1024

// Most returns the maximum number of tools in a request to a provider; 0 if it documents none.
func Most(f Format) int {
	switch f {
	case OpenAI, Responses, Gemini:
		return 128 // OpenAI: "Expected an array with maximum length 128"; Vertex documents it
	case XAI:
		return 200 // "the maximum is 200"
	}
	return 0
}

// Tools returns the array of tools for a provider's API.
func Tools(f Format, tools []Tool) (json.RawMessage, error) {
	all := []any{}
	for _, t := range tools {
		one, err := t.in(f)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		all = append(all, one)
	}
	if f == Gemini && len(all) > 0 {
		all = []any{map[string]any{"functionDeclarations": all}}
	}
	return encode(all)
}

// in returns the tool in a format.
func (t *Tool) in(f Format) (any, error) {
	if f == MCP {
		return t.Raw, nil
	}
	s, err := decode(t.Schema)
	if err != nil {
		return nil, err
	}
	s = modern(s)
	switch f {
	case Anthropic:
		s = object(s)
		s = (&resolver{root: s}).inline(s, within(allRenamed(s, anthropicKey)), nil)
		s = allRenamed(s, anthropicKey)
		return struct {
			Name        string `json:"name"`
			Description string `json:"description,omitempty"`
			InputSchema schema `json:"input_schema"`
		}{t.Name, t.Description, s}, nil
	case Gemini:
		return t.declared(gemini(s)), nil
	case Responses:
		return struct {
			Type string `json:"type"`
			function
			Strict bool `json:"strict"` // a strict schema cannot have optional properties
		}{"function", t.function(object(s)), false}, nil
	case OpenAI:
		return chatTool{"function", t.function(object(s))}, nil
	default:
		fn := t.function(unrolled(object(s)))
		fn.Description = t.Description
		return chatTool{"function", fn}, nil
	}
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Parameters  schema `json:"parameters,omitempty"`
}

func (t *Tool) function(s schema) function {
	return function{t.Name, cut(t.Description, maxDescription), s}
}

// declared returns the tool for Gemini. Gemini requires that a tool without parameters has no
// schema.
func (t *Tool) declared(s schema) function {
	if properties, _ := s["properties"].(schema); len(properties) == 0 {
		s = nil
	}
	return function{t.Name, t.Description, s}
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

// Slim returns the tool without parts that cost tokens and do not affect which arguments are valid,
// such as titles, examples and comments. A schema that cannot be decoded does not change.
func (t Tool) Slim() Tool {
	t.Description = strings.TrimSpace(squeezed(t.Description))
	s, err := decode(t.Schema)
	if err != nil {
		return t
	}
	text, err := encode(slim(s, refers(s)))
	if err != nil {
		return t
	}
	t.Schema = text
	t.Raw, err = encode(struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}{t.Name, t.Description, t.Schema})
	if err != nil {
		t.Raw = nil
	}
	return t
}

// notes are keywords that do not affect which values are valid, and tell a model little.
var notes = []string{"$id", "$comment", "title", "examples", "example", "deprecated", "readOnly", "writeOnly", "$anchor"}

// slim removes what costs tokens and does not affect which values are valid. refers means that
// there are references.
func slim(s schema, refers bool) schema {
	if draft, ok := s["$schema"].(string); ok && (strings.Contains(draft, "2020-12") || !refers && alike(s)) {
		delete(s, "$schema")
	}
	for key := range s {
		if slices.Contains(notes, key) && !(refers && (key == "$id" || key == "$anchor")) {
			delete(s, key)
		}
	}
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		if allowsAll(s[key]) {
			delete(s, key)
		}
	}
	if none, ok := s["required"].([]any); ok && len(none) == 0 {
		delete(s, "required")
	}
	if text, ok := s["description"].(string); ok {
		if s["description"] = squeezed(text); s["description"] == "" {
			delete(s, "description")
		}
	}
	if !refers {
		delete(s, "$defs")
		delete(s, "definitions")
	}
	return each(s, func(sub schema) schema { return slim(sub, refers) })
}

func allowsAll(v any) bool {
	empty, ok := v.(schema)
	return v == true || ok && len(empty) == 0
}

// squeezed returns text with each run of white space replaced by one space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// refers reports whether there is a reference anywhere in a schema.
func refers(s schema) bool {
	for sub := range allIn(s) {
		if sub["$ref"] != nil || sub["$dynamicRef"] != nil || sub["$recursiveRef"] != nil {
			return true
		}
	}
	return false
}

// alike reports whether a schema has the same meaning in all drafts since the sixth.
func alike(s schema) bool {
	for sub := range allIn(s) {
		draft, _ := sub["$schema"].(string)
		if is[[]any](sub["items"]) || sub["dependencies"] != nil || sub["additionalItems"] != nil ||
			strings.Contains(draft, "draft-04") || strings.Contains(draft, "draft-03") {
			return false
		}
	}
	return true
}
