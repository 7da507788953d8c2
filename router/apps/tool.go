package apps

import (
	"slices"
	"strings"

	"toolman/jsonrpc"
)

// Scheme is how the URI of a page begins.
const Scheme = "ui://"

// IsPage reports whether a URI or URI template is that of a page.
func IsPage(uri string) bool { return strings.HasPrefix(uri, Scheme) }

// A Tool is what the definition of a tool says about MCP Apps. It is immutable.
type Tool struct {
	AppOnly bool // only pages may call the tool, and models may not
	links   []link
}

// A link is a place in a definition that names the tool's page.
type link struct {
	at  jsonrpc.Span
	uri string
}

// ReadTool reads a tool's definition. It returns nil if the definition does not mention MCP Apps. A
// member that is repeated or malformed counts as absent.
func ReadTool(definition []byte) *Tool {
	m := jsonrpc.Message{Frame: definition}
	meta, err := m.Get(jsonrpc.Span{Hi: len(definition)}, "_meta")
	if err != nil || !m.IsObject(meta) {
		return nil
	}
	t := &Tool{links: linksIn(&m, meta)}
	if ui, err := m.Get(meta, "ui"); err == nil {
		t.AppOnly = hidesFromModel(&m, ui)
	}
	if !t.AppOnly && len(t.links) == 0 {
		return nil
	}
	return t
}

// linksIn returns the places in _meta that name a page, with the current spelling first.
func linksIn(m *jsonrpc.Message, meta jsonrpc.Span) (links []link) {
	add := func(obj jsonrpc.Span, key string) {
		if at, err := m.Get(obj, key); err == nil && m.IsString(at) {
			if uri := string(m.Text(at)); IsPage(uri) {
				links = append(links, link{at, uri})
			}
		}
	}
	if ui, err := m.Get(meta, "ui"); err == nil {
		add(ui, "resourceUri")
	}
	add(meta, "ui/resourceUri")
	return links
}

// hidesFromModel reports whether the visibility in _meta.ui is a list without "model".
func hidesFromModel(m *jsonrpc.Message, ui jsonrpc.Span) bool {
	list, err := m.Get(ui, "visibility")
	if err != nil || !list.Present() || m.Frame[list.Lo] != '[' {
		return false
	}
	for at := range jsonrpc.Elements(m.Frame, list) {
		if m.IsString(at) && string(m.Text(at)) == "model" {
			return false
		}
	}
	return true
}

// HasPage reports whether the tool has a page. t may be nil.
func (t *Tool) HasPage() bool { return t != nil && len(t.links) > 0 }

// HiddenFromModel reports whether only pages may call the tool. t may be nil.
func (t *Tool) HiddenFromModel() bool { return t != nil && t.AppOnly }

// Pages returns the URIs of the tool's page: usually one, and two if the two places in the
// definition differ. t may be nil.
func (t *Tool) Pages() (uris []string) {
	if t == nil {
		return nil
	}
	for _, l := range t.links {
		if !slices.Contains(uris, l.uri) {
			uris = append(uris, l.uri)
		}
	}
	return uris
}

// Rename returns the edits of the definition that show the tool with other URIs. rename reports
// false for a URI that stays.
func (t *Tool) Rename(rename func(uri string) (string, bool)) []jsonrpc.Edit {
	if t == nil {
		return nil
	}
	return renamed(nil, t.links, rename)
}

// renamed appends an edit for each link that gets another URI.
func renamed(edits []jsonrpc.Edit, links []link, rename func(uri string) (string, bool)) []jsonrpc.Edit {
	for _, l := range links {
		if next, ok := rename(l.uri); ok {
			edits = append(edits, jsonrpc.Edit{Span: l.at, New: jsonrpc.AppendQuoted(nil, next)})
		}
	}
	return edits
}
