package policy

import (
	"fmt"
	"slices"
)

// DangerRules are what a configuration file says about dangerous tools. Nil means that there are no
// dangerous tools.
type DangerRules struct {
	File    string // for messages
	Confirm Confirm
	Tools   []Entry // dangerous_tools: names and globs
}

// Confirm says what happens to a call of a dangerous tool.
type Confirm string

// The values of confirm.
const (
	Elicit Confirm = "elicit" // the client asks a person first
	Deny   Confirm = "deny"   // it is refused
	Allow  Confirm = "allow"  // it runs
)

// Dangers are compiled DangerRules. A nil *Dangers knows no dangerous tool.
type Dangers struct {
	DangerRules
	tools list
}

// Compile compiles the rules.
func (r *DangerRules) Compile() (*Dangers, error) {
	if r == nil {
		return nil, nil
	}
	tools, err := compile(List{Entries: r.Tools})
	return &Dangers{*r, tools}, err
}

// A Danger says why a tool is dangerous, and what happens to a call of it. For a tool that is not
// dangerous it is nil.
type Danger struct {
	Confirm Confirm
	place   string
}

// Judge returns the danger of a server's tool: the first entry counts that matches any name that a
// caller may use for the tool. An entry that matches names of several tools applies to all of them:
// it is better to ask once too often.
func (d *Dangers) Judge(server string, tool Item) *Danger {
	if d == nil {
		return nil
	}
	for i := range d.tools.patterns {
		if p := &d.tools.patterns[i]; p.matchAny(server, tool) {
			return &Danger{d.Confirm, fmt.Sprintf("%s:%d", d.File, p.Line)}
		}
	}
	return nil
}

// matchAny reports whether the pattern matches any name of an item.
func (p *pattern) matchAny(server string, it Item) bool {
	return p.match(it.Name) || p.match(it.Shown) || p.match(it.Full) || p.matchQualified(server, it.Name) ||
		server != "" && p.match(server+"."+it.Name)
}

// Idle returns the entries that match none of the tools, which are given by server, with their
// places. Most likely they are misspelled.
func (d *Dangers) Idle(tools map[string][]Item) (idle []string) {
	if d == nil {
		return nil
	}
	for i := range d.tools.patterns {
		p := &d.tools.patterns[i]
		used := false
		for server, items := range tools {
			used = used || slices.ContainsFunc(items, func(it Item) bool { return p.matchAny(server, it) })
		}
		if !used {
			idle = append(idle, p.in(d.File))
		}
	}
	return idle
}

// Asks reports whether a person has to confirm each call of the tool.
func (d *Danger) Asks() bool { return d != nil && d.Confirm == Elicit }

// Denies reports whether all calls of the tool are refused.
func (d *Danger) Denies() bool { return d != nil && d.Confirm == Deny }

// Place returns the place of the rule that makes the tool dangerous, as file:line.
func (d *Danger) Place() string { return d.place }

// String says what happens to a call of the tool, and which rule says so; "" for a tool that is not
// dangerous.
func (d *Danger) String() string {
	if d == nil {
		return ""
	}
	does := map[Confirm]string{Elicit: "asks first", Deny: "refused", Allow: "runs without asking"}
	return fmt.Sprintf("dangerous: %s (%s)", does[d.Confirm], d.place)
}
