package mcpwire

import (
	"fmt"

	"toolman/jsonrpc"
)

// A Kind is a kind of item that servers offer.
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

// facts are the facts about each kind.
var facts = [Kinds]struct {
	noun       string
	list       Method
	member     string
	capability string
	texts      []string // the member that names the item, then those that describe it, best first
	defining   []string // members that define the item: names, texts for models and people, schemas
	optional   []string // the other members in any revision of MCP (2024-11-05 to 2026-07-28)
}{
	Tool: {"tool", ToolsList, "tools", "tools",
		[]string{"name", "description", "title"},
		[]string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"},
		[]string{"icons", "_meta", "execution"}},
	Resource: {"resource", ResourcesList, "resources", "resources",
		[]string{"uri", "description", "title", "name"},
		[]string{"uri", "name", "title", "description", "mimeType", "annotations"},
		[]string{"icons", "_meta", "size"}},
	Template: {"resource template", TemplatesList, "resourceTemplates", "resources",
		[]string{"uriTemplate", "description", "title", "name"},
		[]string{"uriTemplate", "name", "title", "description", "mimeType", "annotations"},
		[]string{"icons", "_meta"}},
	Prompt: {"prompt", PromptsList, "prompts", "prompts",
		[]string{"name", "description", "title"},
		[]string{"name", "title", "description", "arguments"},
		[]string{"icons", "_meta"}},
}

// maxTexts is the largest number of texts of a kind.
const maxTexts = 4

// String returns the kind's name in prose: "tool", "resource template".
func (k Kind) String() string { return facts[k].noun }

// ListMethod returns the method that lists items of this kind.
func (k Kind) ListMethod() Method { return facts[k].list }

// Member returns the member of a list result that holds the items.
func (k Kind) Member() string { return facts[k].member }

// Capability returns the server capability that covers the kind.
func (k Kind) Capability() string { return facts[k].capability }

// IsURI reports whether a URI or a URI template, and not a name, identifies items of this kind.
func (k Kind) IsURI() bool { return k == Resource || k == Template }

// An Item is a tool, resource, resource template or prompt as its server sent it.
type Item struct {
	Kind        Kind
	Name        string // name, uri or uriTemplate
	Description string // or, without one, its title or display name; may be ""
	Raw         []byte // the whole JSON object, as it came
	at          jsonrpc.Span
}

// HintsReadOnly reports whether the server says that a tool changes nothing
// (annotations.readOnlyHint). Only a plain true counts. The configuration may say it, too: see
// ReadOnly of catalog.Entry.
func (it *Item) HintsReadOnly() bool {
	m, hint, err := MemberOf(ObjectIn(it.Raw, "annotations"), "readOnlyHint")
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

// findTexts finds the members that are strings. A repeated one counts as absent, except the first,
// for which that is an error.
func findTexts(m *jsonrpc.Message, whole jsonrpc.Span, keys []string) (texts [maxTexts]jsonrpc.Span, err error) {
	var found [maxTexts]jsonrpc.Member
	if m.Find(whole, keys, found[:]) != nil {
		for i := range keys { // one by one, because an error in one hides the others
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

// A Page is one page of a list.
type Page struct {
	Items []Item
	// Next is the cursor of the next page, if More is true. It may be empty.
	Next string
	More bool
	// Odd has an error for each item that was left out.
	Odd []error
}

// ParsePage reads the result of a list request. The items keep parts of result.
func ParsePage(k Kind, result []byte) (Page, error) {
	m := jsonrpc.Message{Frame: result}
	whole := jsonrpc.Span{Lo: 0, Hi: len(result)}
	items, err := m.Get(whole, k.Member())
	if err != nil {
		return Page{}, err
	}
	if !items.Present() || result[items.Lo] != '[' {
		return Page{}, fmt.Errorf("the result of %s has no list %q", k.ListMethod(), k.Member())
	}
	var page Page
	for at := range jsonrpc.Elements(result, items) {
		item, err := parseItem(k, result[at.Lo:at.Hi])
		if err != nil {
			page.Odd = append(page.Odd, err)
			continue
		}
		page.Items = append(page.Items, item)
	}
	cursor, err := m.Get(whole, "nextCursor")
	switch {
	case err != nil:
		page.Odd = append(page.Odd, err)
	case m.IsString(cursor):
		page.Next, page.More = string(m.Text(cursor)), true
	case cursor.Present() && string(m.Bytes(cursor)) != "null":
		page.Odd = append(page.Odd, fmt.Errorf("the cursor of %s is not a string", k.ListMethod()))
	}
	return page, nil
}

// AlwaysLoad is the member of a tool that asks clients which load tools on demand to always load
// this one: _meta, with the key that Anthropic's clients look for.
const AlwaysLoad = `"_meta":{"` + alwaysLoadKey + `":true}`

const alwaysLoadKey = "anthropic/alwaysLoad"

// AlwaysLoad returns the edit that asks clients to always load the tool. Its New is nil if the
// server has set the key, or if _meta is not an object.
func (it *Item) AlwaysLoad() jsonrpc.Edit {
	m, meta, err := MemberOf(it.Raw, "_meta")
	obj, members := meta, `"`+alwaysLoadKey+`":true,`
	if !meta.Present() {
		obj, members = jsonrpc.Span{Hi: len(it.Raw)}, AlwaysLoad+","
	}
	said, saidErr := m.Get(meta, alwaysLoadKey)
	if err != nil || saidErr != nil || said.Present() || !m.IsObject(obj) {
		return jsonrpc.Edit{}
	}
	return jsonrpc.AppendInsertion(nil, it.Raw, obj, []byte(members))[0]
}
