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
