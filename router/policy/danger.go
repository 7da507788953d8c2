package policy

import (
	"fmt"
	"slices"
)

// Dangers are what a configuration file says of dangerous tools: dangerous_tools and
// confirm. A nil *Dangers has none.
type Dangers struct {
	File    string // for messages
	Confirm Confirm
	Tools   []Entry // names and globs
}

// Confirm says what becomes of a call of a dangerous tool.
type Confirm string

// The values of confirm.
const (
	Elicit Confirm = "elicit" // a person is asked first, through the client
	Deny   Confirm = "deny"   // nobody may call it
	Allow  Confirm = "allow"  // it runs
)

// A Guard knows which tools are dangerous. A nil *Guard knows none.
type Guard struct {
	file    string
	confirm Confirm
	tools   list
}

// Guard makes the dangers ready to be asked about tools.
func (d *Dangers) Guard() (*Guard, error) {
	if d == nil {
		return nil, nil
	}
	tools, err := compile(List{Entries: d.Tools})
	return &Guard{file: d.File, confirm: d.Confirm, tools: tools}, err
}

// A Danger is why a tool is dangerous, and what becomes of a call of it. A nil *Danger
// belongs to a tool that is not.
type Danger struct {
	Confirm Confirm
	place   string
}

// Judge returns the danger of a server's tool: that of the first entry which fits any
// name that a caller may use for it. What is one name of many is meant, too: it is
// better to ask once too often.
func (g *Guard) Judge(server string, tool Item) *Danger {
	if g == nil {
		return nil
	}
	for i := range g.tools.patterns {
		if p := &g.tools.patterns[i]; p.names(server, tool) {
			return &Danger{Confirm: g.confirm, place: g.place(p)}
		}
	}
	return nil
}

// names reports whether the pattern fits any name of an item.
func (p *pattern) names(server string, it Item) bool {
	return p.match(it.Name) || p.match(it.Shown) || p.match(it.Full) || slices.ContainsFunc(qualified(server, it.Name), p.match)
}

func (g *Guard) place(p *pattern) string { return fmt.Sprintf("%s:%d", g.file, p.Line) }

// Idle returns the entries that fit none of the tools, which are given by server, with
// their places. Most likely they are misspelled.
func (g *Guard) Idle(tools map[string][]Item) []string {
	if g == nil {
		return nil
	}
	var idle []string
	for i := range g.tools.patterns {
		p := &g.tools.patterns[i]
		used := false
		for server, items := range tools {
			used = used || slices.ContainsFunc(items, func(it Item) bool { return p.names(server, it) })
		}
		if !used {
			idle = append(idle, fmt.Sprintf("%q (%s)", p.Text, g.place(p)))
		}
	}
	return idle
}

// Asks reports whether a person has to agree to each call of the tool.
func (d *Danger) Asks() bool { return d != nil && d.Confirm == Elicit }

// Denies reports whether nobody may call the tool.
func (d *Danger) Denies() bool { return d != nil && d.Confirm == Deny }

// Place is where the rule stands that makes the tool dangerous, as file:line.
func (d *Danger) Place() string { return d.place }

// String says what becomes of a call of the tool, and where that is written; it is "" for
// a tool that is not dangerous.
func (d *Danger) String() string {
	if d == nil {
		return ""
	}
	does := map[Confirm]string{Elicit: "asks first", Deny: "refused", Allow: "runs without asking"}
	return fmt.Sprintf("dangerous: %s (%s)", does[d.Confirm], d.place)
}
