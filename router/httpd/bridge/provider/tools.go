package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Format is how a provider's API takes tools.
type Format string

// The formats.
const (
	OpenAI    Format = "openai"           // Chat Completions
	Responses Format = "openai-responses" // OpenAI's Responses API
	Anthropic Format = "anthropic"        // Messages
	Gemini    Format = "gemini"           // generateContent
	XAI       Format = "xai"              // as OpenAI's
	MCP       Format = "mcp"              // tools as MCP lists them
)

// Formats returns all formats.
func Formats() []Format { return []Format{OpenAI, Responses, Anthropic, Gemini, XAI, MCP} }

// ParseFormat returns the format that has this name.
func ParseFormat(name string) (Format, error) {
	for _, f := range Formats() {
		if string(f) == name {
			return f, nil
		}
	}
	return "", fmt.Errorf("there is no format %q; there are openai, openai-responses, anthropic, gemini, xai and mcp", name)
}

// A Tool is one that a model may call.
type Tool struct {
	Name        string // see Name
	Description string
	Schema      json.RawMessage // of its arguments, an object
	Raw         json.RawMessage // as MCP lists it, under Name
}

// maxDescription is how long a description may be at OpenAI, in bytes: "Expected a string
// with maximum length 1024".
const maxDescription = 1024

// Most returns how many tools a provider takes in one request, 0 if it names no bound.
func Most(f Format) int {
	switch f {
	case OpenAI, Responses, Gemini:
		return 128 // OpenAI: "Expected an array with maximum length 128"; Vertex documents it
	case XAI:
		return 200 // "the maximum is 200"
	}
	return 0
}

// Tools returns the array that a provider's API takes as tools.
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

// in is the tool as the format has it.
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
		s = (&opening{root: s}).settled(s, within(allRenamed(s, anthropicKey)), nil)
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
			Strict bool `json:"strict"` // a strict schema could not leave anything out
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

// declared is the tool for Gemini, which wants no parameters where there are none.
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
	text = text[:most-len("…")]
	for !utf8.ValidString(text) && text != "" {
		text = text[:len(text)-1]
	}
	return text + "…"
}

func decode(text json.RawMessage) (s schema, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&s)
	if err == nil && s == nil {
		s = schema{}
	}
	return s, err
}

func encode(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(text.Bytes()), err
}

// Slim is the tool without what costs tokens and changes nothing about which arguments are
// valid: titles, examples, comments, spaces, and the like. What cannot be read stays.
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
