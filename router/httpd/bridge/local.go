package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/client"
	"toolman/router/httpd/presence"
)

// A Local is a caller in the same process, without HTTP. The command line uses it.
type Local struct {
	b *Bridge
	s *session
}

// Local makes a caller. It waits until the servers have started. Bridge.Close ends it.
func (b *Bridge) Local(ctx context.Context, who client.Info) (*Local, error) {
	s, err := b.session(ctx, &presence.Caller{Client: who})
	if err != nil {
		return nil, err
	}
	return &Local{b, s}, nil
}

// Tools returns the tools that the caller may use, of all servers if server is "".
func (l *Local) Tools(server string) ([]router.Tool, error) {
	return l.b.tools(l.s, server)
}

// Search returns the items of any kind that fit a query in plain words best, the best first.
func (l *Local) Search(query string, limit int) ([]router.Tool, error) {
	if err := l.s.notStarted(""); err != nil {
		return nil, err
	}
	return l.s.Router.Search(query, limit), nil
}

// Call calls a tool and returns its result, also one with isError. The error is a *Failure.
func (l *Local) Call(ctx context.Context, server, tool string, arguments []byte) ([]byte, error) {
	text := append([]byte(`{"arguments":`), bytes.TrimSpace(arguments)...)
	p, err := parse(append(text, '}'), "arguments")
	if err != nil {
		return nil, fail(BadRequest, "the arguments are not valid JSON")
	}
	if text, err = p.object("arguments"); err != nil {
		return nil, err
	}
	return l.b.run(ctx, l.s, &toolCall{server: server, tool: tool, arguments: text})
}

// Read reads a resource. The URI may be the server's or the one that clients see.
func (l *Local) Read(ctx context.Context, uri string) ([]byte, error) {
	return l.ask(ctx, mcpwire.ResourcesRead, jsonrpc.Param{Key: "uri", Value: jsonrpc.AppendQuoted(nil, uri)})
}

// Prompt gets a prompt by the name that clients see.
func (l *Local) Prompt(ctx context.Context, name string, arguments map[string]string) ([]byte, error) {
	text, err := json.Marshal(arguments)
	if err != nil || arguments == nil {
		text = []byte("{}")
	}
	return l.ask(ctx, mcpwire.PromptsGet, jsonrpc.Param{Key: "name", Value: jsonrpc.AppendQuoted(nil, name)}, jsonrpc.Param{Key: "arguments", Value: text})
}

func (l *Local) ask(ctx context.Context, method mcpwire.Method, params ...jsonrpc.Param) ([]byte, error) {
	return l.s.wait(ctx, l.s.begin(&call{}, method, params...))
}

// Text returns the text of a result for people: of the content of a tool result or resource, or of
// the messages of a prompt. ok is false if the result has isError.
func Text(result []byte) (text string, ok bool) {
	type block struct {
		Type, Text, URI, MIMEType string
		Resource                  *struct{ Text, URI string }
	}
	var r struct {
		Content, Contents []block
		Messages          []struct {
			Role    string
			Content block
		}
		IsError bool
	}
	if json.Unmarshal(result, &r) != nil {
		return string(result), true
	}
	var parts []string
	add := func(b *block) {
		switch {
		case b.Resource != nil && b.Resource.Text != "":
			parts = append(parts, b.Resource.Text)
		case b.Text != "" || b.Type == "text":
			parts = append(parts, b.Text)
		default:
			parts = append(parts, "["+strings.TrimSpace(b.Type+" "+b.MIMEType+" "+b.URI)+"]")
		}
	}
	for i := range r.Content {
		add(&r.Content[i])
	}
	for i := range r.Contents {
		add(&r.Contents[i])
	}
	for i := range r.Messages {
		parts = append(parts, r.Messages[i].Role+":")
		add(&r.Messages[i].Content)
	}
	return strings.Join(parts, "\n"), !r.IsError
}
