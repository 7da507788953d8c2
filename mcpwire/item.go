package mcpwire

import (
	"fmt"

	"toolman/jsonrpc"
)

// A Kind is a sort of thing that servers offer.
type Kind uint8

// The kinds, in the order in which a catalog shows them.
const (
	Tool Kind = iota
	Resource
	Template
	Prompt
)

// Kinds is how many kinds there are.
const Kinds = 4

var facts = [Kinds]struct {
	noun         string
	list         Method
	member, name string
	capability   string
}{
	Tool:     {"tool", ToolsList, "tools", "name", "tools"},
	Resource: {"resource", ResourcesList, "resources", "uri", "resources"},
	Template: {"resource template", TemplatesList, "resourceTemplates", "uriTemplate", "resources"},
	Prompt:   {"prompt", PromptsList, "prompts", "name", "prompts"},
}

// String returns the kind's name in prose: "tool", "resource template".
func (k Kind) String() string { return facts[k].noun }

// ListMethod returns the method that lists items of this kind.
func (k Kind) ListMethod() Method { return facts[k].list }

// Member returns the member of a list result that holds the items.
func (k Kind) Member() string { return facts[k].member }

// Capability returns the server capability that covers the kind.
func (k Kind) Capability() string { return facts[k].capability }

// IsURI reports whether items of this kind are named by a URI (or a template of
// one) rather than by a name.
func (k Kind) IsURI() bool { return k == Resource || k == Template }

// An Item is a tool, resource, resource template or prompt as its server sent
// it.
type Item struct {
	Kind        Kind
	Name        string // name, uri or uriTemplate
	Description string // its description or, without one, its title or display name; may be ""
	Raw         []byte // the whole JSON object, as it came
	at          jsonrpc.Span
}

// ReadOnly reports whether a tool says that it changes nothing (annotations.readOnlyHint).
// It is the server's word, and nothing but a plain true counts.
func (it *Item) ReadOnly() bool {
	m := jsonrpc.Message{Frame: it.Raw}
	annotations, err := m.Get(jsonrpc.Span{Lo: 0, Hi: len(it.Raw)}, "annotations")
	if err != nil || !m.IsObject(annotations) {
		return false
	}
	hint, err := m.Get(annotations, "readOnlyHint")
	return err == nil && string(m.Bytes(hint)) == "true"
}

// parseItem reads one element of a list.
func parseItem(k Kind, raw []byte) (Item, error) {
	m := jsonrpc.Message{Frame: raw}
	whole := jsonrpc.Span{Lo: 0, Hi: len(raw)}
	if !m.IsObject(whole) {
		return Item{}, fmt.Errorf("a %s that is not an object", k)
	}
	at, err := stringMember(&m, whole, facts[k].name)
	if err != nil {
		return Item{}, fmt.Errorf("a %s: %w", k, err)
	}
	name := m.Text(at)
	if len(name) == 0 {
		return Item{}, fmt.Errorf("a %s without %s", k, facts[k].name)
	}
	return Item{Kind: k, Name: string(name), Description: describe(k, &m, whole), Raw: raw, at: at}, nil
}

// describe finds the text that says best what an item is, beside its name.
func describe(k Kind, m *jsonrpc.Message, whole jsonrpc.Span) string {
	for _, key := range [...]string{"description", "title", "name"} {
		if key == facts[k].name {
			continue
		}
		if at, err := stringMember(m, whole, key); err == nil && at.Hi-at.Lo > 2 {
			return string(m.Text(at))
		}
	}
	return ""
}
