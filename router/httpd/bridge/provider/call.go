package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// A Call is one that a model makes, in a provider's form.
type Call struct {
	Name      string
	Arguments json.RawMessage // an object

	format Format
	id     string
	kind   string // of the form, where a provider has several
}

// ParseCall reads a provider's tool call. The error says what is wrong with it; where the
// call has an id, the Call that comes with the error can carry that as its result.
func ParseCall(f Format, text json.RawMessage) (Call, error) {
	c := Call{format: f, kind: "function"}
	var said struct {
		ID, Type, Name string
		CallID         string `json:"call_id"`
		Function       struct {
			Name      string
			Arguments json.RawMessage
		}
		FunctionCall *struct {
			ID, Name string
			Args     json.RawMessage
		}
		Arguments, Input, Args json.RawMessage
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return c, fmt.Errorf("a tool call of %s cannot be read: %w", f, err)
	}
	var arguments json.RawMessage
	c.id, c.Name = said.ID, said.Name
	switch f {
	case OpenAI, XAI, Responses:
		if said.Type == "function_call" || f == Responses {
			c.kind, c.id, arguments = "function_call", said.CallID, said.Arguments
		} else {
			c.Name, arguments = said.Function.Name, said.Function.Arguments
		}
	case Anthropic:
		arguments = said.Input
	case Gemini:
		if arguments = said.Args; said.FunctionCall != nil {
			c.id, c.Name, arguments = said.FunctionCall.ID, said.FunctionCall.Name, said.FunctionCall.Args
		}
	default:
		arguments = said.Arguments
	}
	if c.Name == "" {
		return c, fmt.Errorf("a tool call of %s has to name its tool", f)
	}
	if c.id == "" && f != Gemini && f != MCP {
		return c, fmt.Errorf("a tool call of %s has to have an id", f)
	}
	var err error
	c.Arguments, err = argumentsOf(arguments)
	return c, err
}

// argumentsOf reads arguments: an object, or one in a string, as OpenAI has it. Nothing is
// none.
func argumentsOf(text json.RawMessage) (json.RawMessage, error) {
	var packed string
	if json.Unmarshal(text, &packed) == nil {
		text = json.RawMessage(packed)
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0 || string(text) == "null":
		return json.RawMessage("{}"), nil
	case !json.Valid(text):
		return nil, errors.New("the arguments are no JSON")
	case text[0] != '{':
		return nil, errors.New("the arguments have to be an object")
	}
	return text, nil
}
