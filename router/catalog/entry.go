package catalog

import (
	"fmt"
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
	Dangers  *policy.Dangers        // nil: nothing is dangerous
	Pins     *Pins                  // nil: nothing is pinned
	Unpinned Globs                  // need no pin
	Eras     map[string]mcpwire.Era // that servers were pinned in, by their names
}

// An Entry is an item of an upstream as clients see it. It does not change.
type Entry struct {
	Item   mcpwire.Item
	Source *Source
	Name   string // as clients see it

	Quoted  []byte                // its upstream name, as a JSON string
	Line    []byte                // its line in the catalog without the mark, escaped for JSON
	Prefix  string                // what Name has before the upstream's name
	AtStart bool                  // at start
	Rule    string                // why it is, "" when it is not
	crossed []jsonrpc.Edit        // what a client of the other era than the server's sees differently
	Wrapped bool                  // another output schema among that, see mcpwire.Item.ToLegacy
	hidden  bool                  // a client of the other era cannot call it at all
	Hold    Hold                  // why it is held back by its pin, or NotHeld
	Danger  *policy.Danger        // what becomes of a call; nil for what is not dangerous
	Load    jsonrpc.Edit          // what lists for clients that defer tools have in addition, see mcpwire.Item.AlwaysLoad
	expand  *regexp.Regexp        // the URIs that its template makes
	accept  func() *regexp.Regexp // those that servers take for such; made when it is first asked for

	folded, foldedItem string        // Name and Item.Name, as similar compares them
	RefID              func() string // of its definition, "" when that has no one meaning; made when it is first asked for
}

// NewEntry prepares an item for being shown and called.
func NewEntry(u *Source, item mcpwire.Item, rules *Rules) *Entry {
	e := &Entry{Item: item, Source: u, Prefix: u.prefix(item.Kind), Name: u.Expose(item.Kind, item.Name)}
	e.folded, e.foldedItem = suggest.Fold(e.Name), suggest.Fold(item.Name)
	e.Quoted = jsonrpc.AppendQuoted(nil, item.Name)
	e.RefID = sync.OnceValue(e.digest)
	e.Hold = rules.holds(e)
	if u.Modern {
		e.crossed, e.Wrapped = item.ToLegacy(nil)
	} else {
		e.crossed, e.hidden = item.ToModern(nil)
	}
	if item.Kind == mcpwire.Tool {
		e.Load = item.AlwaysLoad()
		e.Danger = rules.Dangers.Judge(u.PolicyName, policyItem(e))
	}
	if item.Kind == mcpwire.Prompt {
		e.AtStart, e.Rule = true, "every prompt is active"
		return e
	}
	if g := rules.Active.First(e.Prefix + item.Name); g != nil {
		e.AtStart, e.Rule = true, g.Rule
	}
	e.Line = jsonrpc.AppendEscaped(nil, catalogLine(e))
	if item.Kind == mcpwire.Template {
		e.expand = Expansion(item.Name)
		e.accept = sync.OnceValue(func() *regexp.Regexp { return Acceptance(item.Name, e.expand) })
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

// AppendListed appends the entry as an element of a list: as its server sent it,
// but under the name that clients see, for those of another era in its form, and for
// those that defer tools as one to be loaded always.
func (e *Entry) AppendListed(dst []byte, modern, alwaysLoad bool) []byte {
	var room [4]jsonrpc.Edit
	edits := append(room[:0], e.Item.Rename(e.Name))
	if modern != e.Source.Modern {
		edits = append(edits, e.crossed...)
	}
	if alwaysLoad && e.Load.New != nil {
		edits = append(edits, e.Load)
	}
	return e.Item.AppendWith(dst, edits...)
}

// HiddenFrom reports whether clients of an era cannot call the tool: it runs only
// as a task of 2025-11-25.
func (e *Entry) HiddenFrom(modern bool) bool { return e.hidden && modern != e.Source.Modern }

func catalogLine(e *Entry) string {
	line := sanitize.Name(e.Name)
	if text := sanitize.Summary(e.Item.Description); strings.TrimSpace(text) != "" {
		line += ": " + text
	}
	return line + "\n"
}

// AsksFirst reports whether a person has to agree to each call of the entry. It may be
// nil: a request need not be about one.
func (e *Entry) AsksFirst() bool { return e != nil && e.Danger.Asks() }

// NotRun says that a dangerous tool was not run, and by which rule it could not just be.
func (e *Entry) NotRun(why string) string {
	return fmt.Sprintf("%s; tool %s was not run: %s", e.Danger, sanitize.Name(e.Name), why)
}

// Shortened reports whether clients see another name than namespace and name
// make, because not all of them would take that.
func (e *Entry) Shortened() bool { return e.Name != e.Prefix+e.Item.Name }

// JudgedAs reports whether the options say the same of two entries of one item.
func (e *Entry) JudgedAs(other *Entry) bool {
	return e.AtStart == other.AtStart && e.Rule == other.Rule && e.Hold == other.Hold &&
		(e.Danger == other.Danger || e.Danger != nil && other.Danger != nil && *e.Danger == *other.Danger)
}

// InputSchema returns the inputSchema of a tool as its server wrote it; nil when there is
// none. The bytes are not the caller's to change.
func (e *Entry) InputSchema() []byte {
	m := jsonrpc.Message{Frame: e.Item.Raw}
	at, err := m.Get(jsonrpc.Span{Hi: len(m.Frame)}, "inputSchema")
	if err != nil || !at.Present() {
		return nil
	}
	return m.Bytes(at)
}
