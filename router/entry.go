package router

import (
	"regexp"
	"strings"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
	"toolman/router/suggest"
)

// Rules are what the configuration says about entries.
type Rules struct {
	Active   Globs                  // are active at start
	Dangers  *policy.Guard          // nil: nothing is dangerous
	Pins     *Pins                  // nil: nothing is pinned
	Unpinned Globs                  // need no pin
	Eras     map[string]mcpwire.Era // that servers were pinned in, by their names
}

// An Entry is an item of an upstream as clients see it. It does not change.
type Entry struct {
	Item   mcpwire.Item
	Source *Source
	Name   string // as clients see it

	quoted  []byte                // its upstream name, as a JSON string
	line    []byte                // its line in the catalog without the mark, escaped for JSON
	prefix  string                // what Name has before the upstream's name
	active  bool                  // at start
	rule    string                // why it is, "" when it is not
	crossed []jsonrpc.Edit        // what a client of the other era than the server's sees differently
	wrapped bool                  // another output schema among that, see mcpwire.Item.ToLegacy
	hidden  bool                  // a client of the other era cannot call it at all
	Hold    Hold                  // why it is held back by its pin, or NotHeld
	Danger  *policy.Danger        // what becomes of a call; nil for what is not dangerous
	load    jsonrpc.Edit          // what lists for clients that defer tools have in addition, see mcpwire.Item.AlwaysLoad
	expand  *regexp.Regexp        // the URIs that its template makes
	accept  func() *regexp.Regexp // those that servers take for such; made when it is first asked for

	folded, foldedItem string        // Name and Item.Name, as similar compares them
	refID              func() string // of its definition, "" when that has no one meaning; made when it is first asked for
}

// newEntry prepares an item for being shown and called.
func newEntry(u *Source, item mcpwire.Item, rules *Rules) *Entry {
	e := &Entry{Item: item, Source: u, prefix: u.prefix(item.Kind), Name: u.expose(item.Kind, item.Name)}
	e.folded, e.foldedItem = suggest.Fold(e.Name), suggest.Fold(item.Name)
	e.quoted = jsonrpc.AppendQuoted(nil, item.Name)
	e.refID = sync.OnceValue(e.digest)
	e.Hold = rules.holds(e)
	if u.Modern {
		e.crossed, e.wrapped = item.ToLegacy(nil)
	} else {
		e.crossed, e.hidden = item.ToModern(nil)
	}
	if item.Kind == mcpwire.Tool {
		e.load = item.AlwaysLoad()
		e.Danger = rules.Dangers.Judge(u.PolicyName, policyItem(e))
	}
	if item.Kind == mcpwire.Prompt {
		e.active, e.rule = true, "every prompt is active"
		return e
	}
	if g := rules.Active.First(e.prefix + item.Name); g != nil {
		e.active, e.rule = true, g.Rule
	}
	e.line = jsonrpc.AppendEscaped(nil, catalogLine(e))
	if item.Kind == mcpwire.Template {
		e.expand = expansion(item.Name)
		e.accept = sync.OnceValue(func() *regexp.Regexp { return acceptance(item.Name, e.expand) })
	}
	return e
}

func (e *Entry) digest() string {
	definition, err := e.Item.Definition()
	if err != nil {
		return ""
	}
	return mcpwire.RefID(definition)
}

// appendListed appends the entry as an element of a list: as its server sent it,
// but under the name that clients see, for those of another era in its form, and for
// those that defer tools as one to be loaded always.
func (e *Entry) appendListed(dst []byte, modern, alwaysLoad bool) []byte {
	var room [4]jsonrpc.Edit
	edits := append(room[:0], e.Item.Rename(e.Name))
	if modern != e.Source.Modern {
		edits = append(edits, e.crossed...)
	}
	if alwaysLoad && e.load.New != nil {
		edits = append(edits, e.load)
	}
	return e.Item.AppendWith(dst, edits...)
}

// hiddenFrom reports whether clients of an era cannot call the tool: it runs only
// as a task of 2025-11-25.
func (e *Entry) hiddenFrom(modern bool) bool { return e.hidden && modern != e.Source.Modern }

func catalogLine(e *Entry) string {
	line := sanitize.Name(e.Name)
	if text := sanitize.Summary(e.Item.Description); strings.TrimSpace(text) != "" {
		line += ": " + text
	}
	return line + "\n"
}
