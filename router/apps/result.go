package apps

import (
	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// AppendRenames appends the edits that give the pages in a response of a server other URIs. rename
// reports false for a URI that stays. Pages are named in the contents of resources/read; in the
// links and embedded resources of tools/call and prompts/get; and in the _meta of a tool's result.
// AppendRenames leaves everything else as it is, also URIs in texts and in structuredContent.
func AppendRenames(edits []jsonrpc.Edit, m *jsonrpc.Message, method mcpwire.Method, rename func(uri string) (string, bool)) []jsonrpc.Edit {
	r := renamer{m, nil}
	switch method {
	case mcpwire.ResourcesRead:
		r.each(m.Result, "contents", r.resource)
	case mcpwire.ToolsCall, mcpwire.TasksResult:
		r.each(m.Result, "content", r.content)
		if meta, err := m.Get(m.Result, "_meta"); err == nil {
			r.links = append(r.links, linksIn(m, meta)...)
		}
	case mcpwire.PromptsGet:
		r.each(m.Result, "messages", func(message jsonrpc.Span) {
			if content, err := m.Get(message, "content"); err == nil {
				r.content(content)
			}
		})
	}
	return renamed(edits, r.links, rename)
}

// A renamer finds the places in a response that name pages.
type renamer struct {
	m     *jsonrpc.Message
	links []link
}

// each calls f for each object of a list.
func (r *renamer) each(obj jsonrpc.Span, key string, f func(jsonrpc.Span)) {
	list, err := r.m.Get(obj, key)
	if err != nil {
		return
	}
	for at := range jsonrpc.Elements(r.m.Frame, list) {
		if r.m.IsObject(at) {
			f(at)
		}
	}
}

// content reads a content block: a link to a resource, or a resource itself.
func (r *renamer) content(block jsonrpc.Span) {
	kind, err := r.m.Get(block, "type")
	if err != nil {
		return
	}
	switch string(r.m.Text(kind)) {
	case "resource_link":
		r.resource(block)
	case "resource":
		if inner, err := r.m.Get(block, "resource"); err == nil {
			r.resource(inner)
		}
	}
}

// resource reads an object that has a URI.
func (r *renamer) resource(obj jsonrpc.Span) {
	if at, err := r.m.Get(obj, "uri"); err == nil && r.m.IsString(at) {
		if uri := string(r.m.Text(at)); IsPage(uri) {
			r.links = append(r.links, link{at, uri})
		}
	}
}
