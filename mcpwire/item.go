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

var facts = [Kinds]struct {
	noun       string
	list       Method
	member     string
	capability string
	texts      []string // members: the one that names the item, then those that describe it, the best first
}{
	Tool:     {"tool", ToolsList, "tools", "tools", []string{"name", "description", "title"}},
	Resource: {"resource", ResourcesList, "resources", "resources", []string{"uri", "description", "title", "name"}},
	Template: {"resource template", TemplatesList, "resourceTemplates", "resources", []string{"uriTemplate", "description", "title", "name"}},
	Prompt:   {"prompt", PromptsList, "prompts", "prompts", []string{"name", "description", "title"}},
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

// IsURI reports whether items of this kind are named by a URI, or a template of one, and not by a
// name.
func (k Kind) IsURI() bool { return k == Resource || k == Template }

// An Item is a tool, resource, resource template or prompt as its server sent it.
type Item struct {
	Kind        Kind
	Name        string // name, uri or uriTemplate
	Description string // or, without one, its title or display name; may be ""
	Raw         []byte // the whole JSON object, as it came
	at          jsonrpc.Span
}

// ReadOnly reports whether a tool says that it changes nothing (annotations.readOnlyHint). It is
// the server's word, and only a plain true counts.
func (it *Item) ReadOnly() bool {
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

// findTexts finds the members that are strings. One that is there more than once counts as absent;
// for the first member this is an error.
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

// A Page is one page of a list.
type Page struct {
	Items []Item
	// Next is the cursor of the next page; More says whether there is one. The empty string is a
	// cursor like any other.
	Next string
	More bool
	// Odd says what was wrong with items that were left out.
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

// AlwaysLoad is the member of an object that asks clients which defer tools not to defer this one:
// _meta, with the key that Anthropic's clients look for.
const AlwaysLoad = `"_meta":{"` + alwaysLoadKey + `":true}`

const alwaysLoadKey = "anthropic/alwaysLoad"

// AlwaysLoad returns the edit that asks clients not to defer the tool. New is nil if the tool says
// itself what it wants, or has a _meta that cannot take it.
func (it *Item) AlwaysLoad() jsonrpc.Edit {
	insert := func(obj jsonrpc.Span, members string) jsonrpc.Edit {
		return jsonrpc.AppendInsertion(nil, it.Raw, obj, []byte(members))[0]
	}
	m, meta, err := MemberOf(it.Raw, "_meta")
	if err == nil && !meta.Present() {
		return insert(jsonrpc.Span{Hi: len(it.Raw)}, AlwaysLoad+",")
	}
	said, saidErr := m.Get(meta, alwaysLoadKey)
	if err != nil || saidErr != nil || said.Present() || !m.IsObject(meta) {
		return jsonrpc.Edit{}
	}
	return insert(meta, `"`+alwaysLoadKey+`":true,`)
}
