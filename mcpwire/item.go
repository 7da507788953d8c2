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
	noun       string
	list       Method
	member     string
	capability string
	texts      []string // members: first what the item is called by, then what describes it, the best first
}{
	Tool:     {"tool", ToolsList, "tools", "tools", []string{"name", "description", "title"}},
	Resource: {"resource", ResourcesList, "resources", "resources", []string{"uri", "description", "title", "name"}},
	Template: {"resource template", TemplatesList, "resourceTemplates", "resources", []string{"uriTemplate", "description", "title", "name"}},
	Prompt:   {"prompt", PromptsList, "prompts", "prompts", []string{"name", "description", "title"}},
}

// maxTexts is how many texts an item may have.
const maxTexts = 4

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
	texts, err := findTexts(&m, whole, facts[k].texts)
	if err != nil {
		return Item{}, fmt.Errorf("a %s: %w", k, err)
	}
	name := m.Text(texts[0])
	if len(name) == 0 {
		return Item{}, fmt.Errorf("a %s without %s", k, facts[k].texts[0])
	}
	it := Item{Kind: k, Name: string(name), Raw: raw, at: texts[0]}
	for _, at := range texts[1:] {
		if at.Hi-at.Lo > len(`""`) {
			it.Description = string(m.Text(at))
			break
		}
	}
	return it, nil
}

// findTexts finds the members that are strings. One that is there more than once counts as
// absent; for the first, that is an error.
func findTexts(m *jsonrpc.Message, whole jsonrpc.Span, keys []string) (texts [maxTexts]jsonrpc.Span, err error) {
	var found [maxTexts]jsonrpc.Member
	if m.Find(whole, keys, found[:]) != nil {
		for i := range keys { // one by one, since one spoils the search for the others
			if err := m.Find(whole, keys[i:i+1], found[i:]); err != nil && i == 0 {
				return texts, err
			} else if err != nil {
				found[i] = jsonrpc.Member{}
			}
		}
	}
	for i, member := range found {
		if m.IsString(member.Value) {
			texts[i] = member.Value
		}
	}
	return texts, nil
}
