package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolman/jsonrpc"
)

// A Call is a tool call of a model in a provider's format.
type Call struct {
	Name      string
	Arguments json.RawMessage // an object

	format Format
	id     string
	kind   string // of the call, if the format has several
}

// ParseCall reads a provider's tool call. The Call that is returned with an error has the ID of the
// call, if it has one, so that Failure can be its result.
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
		return c, fmt.Errorf("a tool call of %s must name its tool", f)
	}
	if c.id == "" && f != Gemini && f != MCP {
		return c, fmt.Errorf("a tool call of %s must have an id", f)
	}
	var err error
	c.Arguments, err = argumentsOf(arguments)
	return c, err
}

// unreadable describes an error of encoding/json without names of Go types.
func unreadable(f Format, err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fmt.Errorf("a tool call of %s cannot be read: %s cannot be a JSON %s", f, wrong.Field, wrong.Value)
	}
	return fmt.Errorf("a tool call of %s cannot be read: it must be a JSON object", f)
}

// argumentsOf reads arguments: an object, or a string that contains one, as OpenAI writes it.
// Without arguments it returns {}.
func argumentsOf(text json.RawMessage) (json.RawMessage, error) {
	var packed string
	if json.Unmarshal(text, &packed) == nil {
		return unpack(packed)
	}
	return objectOf(text)
}

// unpack returns the object in a string. The model has written it, and nothing has validated it
// yet. It becomes part of a message on one line. So it is validated as strictly as a message, and
// loses its white space.
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

// objectOf returns JSON that is an object; {} for nothing.
func objectOf(text json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(text) == 0 || string(text) == "null":
		return json.RawMessage("{}"), nil
	case text[0] != '{':
		return nil, errors.New("the arguments must be an object")
	}
	return text, nil
}

// A block is an element of a tool result's content (MCP, Tools).
type block struct {
	Type, Text, Data, MIMEType, URI string
	Resource                        *struct{ URI, Text, Blob string }
}

// text returns the block for a model that reads only text.
func (b *block) text() string {
	switch {
	case b.Type == "text":
		return b.Text
	case b.Resource != nil && b.Resource.Blob == "":
		return b.Resource.Text
	case b.Resource != nil:
		return fmt.Sprintf("[%s, %d bytes of base64]", b.Resource.URI, len(b.Resource.Blob))
	case b.URI != "":
		return fmt.Sprintf("[%s]", b.URI)
	}
	return fmt.Sprintf("[%s %s, %d bytes of base64]", b.Type, b.MIMEType, len(b.Data))
}

// image reports whether the block is an image that OpenAI and Anthropic accept.
func (b *block) image() bool {
	return b.Type == "image" && slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, b.MIMEType)
}

type result struct {
	Content           []block
	StructuredContent json.RawMessage
	IsError           bool
}

// text returns the whole result as text. Structured content counts only if there is no other:
// servers repeat it as text.
func (r *result) text() string {
	if len(r.Content) == 0 && r.StructuredContent != nil {
		return string(r.StructuredContent)
	}
	var parts []string
	for i := range r.Content {
		parts = append(parts, r.Content[i].text())
	}
	return strings.Join(parts, "\n")
}

// Result returns the provider's tool result for a CallToolResult of MCP.
func (c *Call) Result(callToolResult json.RawMessage) (json.RawMessage, error) {
	if c.format == MCP {
		return callToolResult, nil
	}
	var r result
	if err := json.Unmarshal(callToolResult, &r); err != nil {
		return nil, fmt.Errorf("the result of tool %s: %w", c.Name, err)
	}
	return encode(c.result(&r))
}

// Failure returns the provider's tool result for a call that failed. The text tells the model why.
func (c *Call) Failure(text string) json.RawMessage {
	var r any = c.result(&result{Content: []block{{Type: "text", Text: text}}, IsError: true})
	if c.format == MCP {
		r = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true}
	}
	out, _ := encode(r) // cannot fail: it contains only strings
	return out
}

// result returns the provider's tool result, to be encoded as JSON.
func (c *Call) result(r *result) any {
	marked := r.text() // for formats that cannot mark errors in another way
	if r.IsError {
		marked = "Error: " + marked
	}
	switch {
	case c.format == Anthropic:
		return struct {
			Type    string `json:"type"`
			ID      string `json:"tool_use_id"`
			Content []any  `json:"content"`
			IsError bool   `json:"is_error"`
		}{"tool_result", c.id, anthropicContent(r), r.IsError}
	case c.format == Gemini:
		return c.functionResponse(r)
	case c.kind == "function_call":
		out := struct {
			Type   string `json:"type"`
			CallID string `json:"call_id"`
			Output any    `json:"output"`
		}{"function_call_output", c.id, marked}
		if c.format != XAI && slices.ContainsFunc(r.Content, func(b block) bool { return b.image() }) {
			out.Output = withImages(r)
		}
		return out
	}
	return struct {
		Role    string `json:"role"`
		ID      string `json:"tool_call_id"`
		Content string `json:"content"`
	}{"tool", c.id, marked}
}

// withImages returns a result for OpenAI's Responses API. Others with that API do not accept
// images.
func withImages(r *result) (all []map[string]string) {
	add := func(text string) {
		if text != "" {
			all = append(all, map[string]string{"type": "input_text", "text": text})
		}
	}
	if r.IsError {
		add("Error:")
	}
	for i := range r.Content {
		if b := &r.Content[i]; b.image() {
			all = append(all, map[string]string{"type": "input_image", "image_url": "data:" + b.MIMEType + ";base64," + b.Data})
		} else {
			add(b.text())
		}
	}
	return all
}

// functionResponse returns a result for Gemini: an object with output or error.
func (c *Call) functionResponse(r *result) any {
	answer := map[string]any{"output": r.text()}
	if r.IsError {
		answer = map[string]any{"error": r.text()}
	} else if r.StructuredContent != nil {
		answer["output"] = r.StructuredContent
	}
	response := map[string]any{"name": c.Name, "response": answer}
	if c.id != "" {
		response["id"] = c.id
	}
	return map[string]any{"functionResponse": response}
}

// anthropicContent returns the content of a result for Anthropic: "text content blocks must be
// non-empty", and for errors "content cannot be empty" and "all content must be type 'text'".
func anthropicContent(r *result) []any {
	all := []any{}
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			all = append(all, map[string]string{"type": "text", "text": text})
		}
	}
	for i := range r.Content {
		if b := &r.Content[i]; b.image() && !r.IsError {
			source := map[string]string{"type": "base64", "media_type": b.MIMEType, "data": b.Data}
			all = append(all, map[string]any{"type": "image", "source": source})
		} else {
			add(b.text())
		}
	}
	if len(all) == 0 {
		add(string(r.StructuredContent))
	}
	if len(all) == 0 && r.IsError {
		add("The tool says that it failed, and not why.")
	}
	return all
}
