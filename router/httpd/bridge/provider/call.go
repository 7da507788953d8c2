package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"toolman/jsonrpc"
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
		ID       string `json:"id"`
		Type     string `json:"type"`
		Name     string `json:"name"`
		CallID   string `json:"call_id"`
		Function struct {
			Name      string `json:"name"`
			Arguments json.RawMessage
		} `json:"function"`
		FunctionCall *struct {
			ID   string `json:"id"`
			Name string `json:"name"`
			Args json.RawMessage
		} `json:"functionCall"`
		Arguments, Input, Args json.RawMessage
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return c, unreadable(f, err)
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

// unreadable says what is wrong with a call in words of JSON, not of Go.
func unreadable(f Format, err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fmt.Errorf("a tool call of %s cannot be read: %s cannot be a JSON %s", f, wrong.Field, wrong.Value)
	}
	return fmt.Errorf("a tool call of %s cannot be read: it has to be a JSON object", f)
}

// argumentsOf reads arguments: an object as it came, or one in a string, as OpenAI writes it. Nothing
// is an empty object.
func argumentsOf(text json.RawMessage) (json.RawMessage, error) {
	var packed string
	if json.Unmarshal(text, &packed) == nil {
		return unpack(packed)
	}
	return objectOf(text)
}

// unpack returns the object in a string. The model chooses the text: it may have line ends between
// its tokens, and nothing has checked it yet. It becomes part of a message of one line, and so it
// is checked as strictly as a message and has no white space in the end.
func unpack(packed string) (json.RawMessage, error) {
	text := bytes.Trim([]byte(packed), " \t\r\n")
	if len(text) > 0 && !jsonrpc.ValidWithin(2, text) {
		return nil, errors.New("the arguments are not valid JSON, or are nested too deep")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); len(text) > 0 && err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	return objectOf(compact.Bytes())
}

// objectOf returns JSON that is an object, or {} for nothing.
func objectOf(text json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(text) == 0 || string(text) == "null":
		return json.RawMessage("{}"), nil
	case text[0] != '{':
		return nil, errors.New("the arguments have to be an object")
	}
	return text, nil
}
