package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/apps"
	"toolman/router/policy"
	"toolman/router/suggest"
)

// Rules are the rules of the configuration for entries.
type Rules struct {
	Active   Globs                  // items that are active at start
	Dangers  *policy.Dangers        // nil: no tool is dangerous
	Pins     *Pins                  // nil: no item is pinned
	ReadOnly *policy.Declared       // tools that only read, by what the configuration says; nil: none
	Unpinned Globs                  // items that need no pin
	Eras     map[string]mcpwire.Era // by server name: the era in which the items were pinned
}

// An Entry is an item of an upstream server as clients see it. It is immutable.
type Entry struct {
	Item   mcpwire.Item
	Source *Source
	Name   string // as clients see it

	Quoted     []byte                // the server's name for it, as a JSON string
	Line       []byte                // its line in the catalog text without the mark, escaped for JSON; empty: none
	Prefix     string                // prefix of Name before the server's name for it
	AtStart    bool                  // active at start
	Rule       string                // why it is active at start, or ""
	translated []jsonrpc.Edit        // edits for clients of the other era
	Wrapped    bool                  // the edits change the output schema, see mcpwire.Item.ToLegacy
	hidden     bool                  // clients of the other era cannot call it
	Hold       Hold                  // why it is held back by its pin, or NotHeld
	Danger     *policy.Danger        // the rule for calls; nil: not dangerous
	declared   bool                  // the configuration says that the tool only reads
	Load       jsonrpc.Edit          // edit for clients that defer tools, see mcpwire.Item.AlwaysLoad
	strict     *regexp.Regexp        // matches the URIs of its template by RFC 6570
	loose      func() *regexp.Regexp // matches the URIs that servers accept; compiled on first use
	pageLinks

	folded  struct{ name, item string }     // Name and Item.Name, folded by suggest.Fold
	digests func() (refID, nameless string) // see RefID and NamelessRefID
}

// NewEntry returns the entry of an item.
func NewEntry(u *Source, item mcpwire.Item, rules *Rules) *Entry {
	e := &Entry{Item: item, Source: u, Prefix: u.prefix(item.Kind), Name: u.Expose(item.Kind, item.Name)}
	e.folded.name, e.folded.item = suggest.Fold(e.Name), suggest.Fold(item.Name)
	e.Quoted = jsonrpc.AppendQuoted(nil, item.Name)
	e.digests = sync.OnceValues(e.digest)
	e.Hold = rules.pinHold(e)
	if u.Modern {
		e.translated, e.Wrapped = item.ToLegacy(nil)
	} else {
		e.translated, e.hidden = item.ToModern(nil)
	}
	if item.Kind == mcpwire.Tool {
		e.Load = item.AlwaysLoad()
		e.Danger = rules.Dangers.Judge(u.PolicyName, policyItem(e))
		e.App = apps.ReadTool(item.Raw)
		e.declared = rules.ReadOnly.ReadOnly(u.PolicyName, item.Name)
	}
	if item.Kind == mcpwire.Prompt {
		e.AtStart, e.Rule = true, "every prompt is active"
		return e
	}
	if g := rules.Active.FirstFor(e); g != nil {
		e.AtStart, e.Rule = true, g.Rule
	}
	if e.App.HasPage() || e.IsPage() {
		e.variant = new(variant)
	}
	if !e.ForPages() {
		e.Line = jsonrpc.AppendEscaped(nil, catalogLine(e))
	}
	if item.Kind == mcpwire.Template {
		e.strict = StrictPattern(item.Name)
		e.loose = sync.OnceValue(func() *regexp.Regexp { return LoosePattern(item.Name, e.strict) })
	}
	return e
}

// digest returns the references of the definition, with and without the item's name, or "" if the
// definition is ambiguous.
func (e *Entry) digest() (refID, nameless string) {
	definition, err := e.Item.Definition()
	if err != nil {
		return "", ""
	}
	refID = mcpwire.RefID(definition)
	if e.Item.Description != "" {
		nameless = mcpwire.RefID(e.Item.Kind.Nameless(definition))
	}
	return refID, nameless
}

// RefID returns the reference of the definition, or "" if the definition is ambiguous.
func (e *Entry) RefID() string {
	id, _ := e.digests()
	return id
}

// NamelessRefID returns the reference of the definition without the item's name. It is "" if the
// definition is ambiguous, or lacks a description too: too many items are alike then.
func (e *Entry) NamelessRefID() string {
	_, id := e.digests()
	return id
}

// AppendListed appends the entry as a list element: as its server sent it, but with the name that
// clients see, in the form of the client's era, and marked as always loaded if alwaysLoad is set.
func (e *Entry) AppendListed(dst []byte, modern, alwaysLoad bool) []byte {
	var room [4]jsonrpc.Edit
	edits := append(append(room[:0], e.Item.Rename(e.Name)), e.relinked...)
	if modern != e.Source.Modern {
		edits = append(edits, e.translated...)
	}
	if alwaysLoad && e.Load.New != nil {
		edits = append(edits, e.Load)
	}
	return e.Item.AppendWith(dst, edits...)
}

// AppendNamed appends the entry as its server sent it, but with this name and with the URIs of
// pages that clients see.
func (e *Entry) AppendNamed(dst []byte, name string) []byte {
	return e.Item.AppendWith(dst, append([]jsonrpc.Edit{e.Item.Rename(name)}, e.relinked...)...)
}

// HiddenFrom reports whether clients of an era cannot call the tool, because it only runs as a task
// of 2025-11-25.
func (e *Entry) HiddenFrom(modern bool) bool { return e.hidden && modern != e.Source.Modern }

func catalogLine(e *Entry) string {
	line := sanitize.Name(e.Name)
	if text := sanitize.Summary(e.Item.Description); strings.TrimSpace(text) != "" {
		line += ": " + text
	}
	return line + "\n"
}

// ReadOnly reports whether a tool only reads: its server says so, or the configuration.
func (e *Entry) ReadOnly() bool {
	return e.Item.Kind == mcpwire.Tool && (e.declared || e.Item.HintsReadOnly())
}

// NeedsConfirmation reports whether the user must confirm each call of the entry. e may be nil.
func (e *Entry) NeedsConfirmation() bool { return e != nil && e.Danger.Asks() }

// NotRunText says that a dangerous tool was not run, why, and by which rule.
func (e *Entry) NotRunText(why string) string {
	return fmt.Sprintf("%s; tool %s was not run: %s", e.Danger, sanitize.Name(e.Name), why)
}

// Shortened reports whether the name that clients see is not namespace and name, because some
// clients would reject that.
func (e *Entry) Shortened() bool { return e.Name != e.Prefix+e.Item.Name }

// SameRules reports whether the configuration treats two entries of one item equally.
func (e *Entry) SameRules(other *Entry) bool {
	return e.AtStart == other.AtStart && e.declared == other.declared && e.Rule == other.Rule && e.Hold == other.Hold &&
		(e.Danger == other.Danger || e.Danger != nil && other.Danger != nil && *e.Danger == *other.Danger)
}

// Same reports whether clients see no difference between two entries.
func (e *Entry) Same(other *Entry) bool {
	return e == other || e.Name == other.Name && e.Source.Name == other.Source.Name && e.Source.Modern == other.Source.Modern &&
		bytes.Equal(e.Item.Raw, other.Item.Raw) && e.SameRules(other) && slices.EqualFunc(e.relinked, other.relinked, sameEdit)
}

func sameEdit(a, b jsonrpc.Edit) bool { return a.Span == b.Span && bytes.Equal(a.New, b.New) }

// MayHaveArgument reports whether a tool's inputSchema has an argument, or allows more than it
// names. For name = a.b, it reports this for a.
func (e *Entry) MayHaveArgument(name string) bool {
	if e.Item.Kind != mcpwire.Tool {
		return false
	}
	var schema struct {
		Properties           map[string]json.RawMessage
		AdditionalProperties any
		AnyOf, OneOf, AllOf  json.RawMessage
		Ref                  string `json:"$ref"`
	}
	if json.Unmarshal(e.InputSchema(), &schema) != nil || schema.Properties == nil || schema.AnyOf != nil || schema.OneOf != nil ||
		schema.AllOf != nil || schema.Ref != "" || schema.AdditionalProperties == true || name == "*" {
		return true
	}
	for property := range schema.Properties {
		if head, _, _ := strings.Cut(name, "."); head == "*" || strings.EqualFold(property, head) || strings.EqualFold(property, name) {
			return true
		}
	}
	return false
}

// InputSchema returns the inputSchema of a tool as its server wrote it, or nil. The caller must not
// modify it.
func (e *Entry) InputSchema() []byte {
	m := jsonrpc.Message{Frame: e.Item.Raw}
	at, err := m.Get(jsonrpc.Span{Hi: len(m.Frame)}, "inputSchema")
	if err != nil || !at.Present() {
		return nil
	}
	return m.Bytes(at)
}
