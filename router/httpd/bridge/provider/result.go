package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A block is an element of a tool result's content (MCP, Tools).
type block struct {
	Type, Text, Data, MIMEType, URI string
	Resource                        *struct{ URI, Text, Blob string }
}

// text is the block as a model reads it that takes nothing but text.
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

// images are the kinds that OpenAI and Anthropic take.
var images = words{"image/jpeg", "image/png", "image/gif", "image/webp"}

func (b *block) image() bool { return b.Type == "image" && images.has(b.MIMEType) }

type result struct {
	Content           []block
	StructuredContent json.RawMessage
	IsError           bool
}

// text is all of a result as text. What is structured counts only when there is nothing
// else: servers repeat it as text.
func (r *result) text() string {
	var parts []string
	for i := range r.Content {
		parts = append(parts, r.Content[i].text())
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		return string(r.StructuredContent)
	}
	return strings.Join(parts, "\n")
}

// Result is the provider's tool result for a CallToolResult of MCP.
func (c *Call) Result(callToolResult json.RawMessage) (json.RawMessage, error) {
	if c.format == MCP {
		return callToolResult, nil
	}
	var r result
	if err := json.Unmarshal(callToolResult, &r); err != nil {
		return nil, fmt.Errorf("the result of tool %s: %w", c.Name, err)
	}
	return c.result(&r)
}

// Failure is the provider's tool result for a call that was not carried out: a model reads
// why. The text is for it.
func (c *Call) Failure(text string) (json.RawMessage, error) {
	r := result{Content: []block{{Type: "text", Text: text}}, IsError: true}
	if c.format == MCP {
		return encode(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true})
	}
	return c.result(&r)
}

func (c *Call) result(r *result) (json.RawMessage, error) {
	switch {
	case c.format == Anthropic:
		return encode(anthropicResult{"tool_result", c.id, anthropicContent(r), r.IsError})
	case c.format == Gemini:
		return c.response(r)
	case c.kind == "function_call":
		return encode(struct {
			Type   string `json:"type"`
			CallID string `json:"call_id"`
			Output any    `json:"output"`
		}{"function_call_output", c.id, c.output(r)})
	}
	return encode(struct {
		Role    string `json:"role"`
		ID      string `json:"tool_call_id"`
		Content string `json:"content"`
	}{"tool", c.id, marked(r)})
}

// marked is a result's text where the provider has no other place to say that it is an error.
func marked(r *result) string {
	if r.IsError {
		return "Error: " + r.text()
	}
	return r.text()
}

// output is a result for the Responses API. Of those who have that, OpenAI takes images.
func (c *Call) output(r *result) any {
	if c.format == XAI || !slices.ContainsFunc(r.Content, func(b block) bool { return b.image() }) {
		return marked(r)
	}
	var all []map[string]string
	if r.IsError {
		all = append(all, map[string]string{"type": "input_text", "text": "Error:"})
	}
	for i := range r.Content {
		if b := &r.Content[i]; b.image() {
			all = append(all, map[string]string{"type": "input_image", "image_url": "data:" + b.MIMEType + ";base64," + b.Data})
		} else if text := b.text(); text != "" {
			all = append(all, map[string]string{"type": "input_text", "text": text})
		}
	}
	return all
}

// response is Gemini's: an object with output or error.
func (c *Call) response(r *result) (json.RawMessage, error) {
	key := "output"
	if r.IsError {
		key = "error"
	}
	var value any = r.text()
	if r.StructuredContent != nil && !r.IsError {
		value = r.StructuredContent
	}
	response := map[string]any{"name": c.Name, "response": map[string]any{key: value}}
	if c.id != "" {
		response["id"] = c.id
	}
	return encode(map[string]any{"functionResponse": response})
}

type anthropicResult struct {
	Type    string `json:"type"`
	ID      string `json:"tool_use_id"`
	Content []any  `json:"content"`
	IsError bool   `json:"is_error"`
}

// anthropicContent is a result's content. Anthropic: "text content blocks must be non-empty",
// and of errors "content cannot be empty" and "all content must be type 'text'".
func anthropicContent(r *result) []any {
	all := []any{}
	for i := range r.Content {
		if b := &r.Content[i]; b.image() && !r.IsError {
			source := map[string]string{"type": "base64", "media_type": b.MIMEType, "data": b.Data}
			all = append(all, map[string]any{"type": "image", "source": source})
		} else if text := b.text(); strings.TrimSpace(text) != "" {
			all = append(all, map[string]string{"type": "text", "text": text})
		}
	}
	switch {
	case len(all) > 0:
	case r.StructuredContent != nil:
		all = append(all, map[string]string{"type": "text", "text": string(r.StructuredContent)})
	case r.IsError:
		all = append(all, map[string]string{"type": "text", "text": "The tool says that it failed, and not why."})
	}
	return all
}
