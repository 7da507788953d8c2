package policy

import (
	"fmt"
	"slices"

	"github.com/gobwas/glob"
)

// A pattern is an Entry that is ready to match. It matches its own text also
// where that means something else as a glob: URI templates are full of braces.
type pattern struct {
	Entry
	glob *glob.Pattern
}

func (p *pattern) match(name string) bool { return name == p.Text || p.glob.Match(name) }

// Matches reports whether the entry is, or as a glob matches, a server's or
// service's name. One that is no glob matches itself alone.
func (e Entry) Matches(name string) bool {
	g, err := glob.Compile(e.Text)
	return e.Text == name || err == nil && g.Match(name)
}

// A list is a List that is ready to match.
type list struct {
	line     int
	patterns []pattern
}

func compile(l List) (list, error) {
	out := list{line: l.Line}
	for _, e := range l.Entries {
		g, err := glob.Compile(e.Text)
		if err != nil {
			return list{}, fmt.Errorf("line %d: the pattern %q: %w", e.Line, e.Text, err)
		}
		out.patterns = append(out.patterns, pattern{e, g})
	}
	return out, nil
}

func compileAll(lists map[string]List) (map[string]list, error) {
	out := make(map[string]list, len(lists))
	for server, l := range lists {
		var err error
		if out[server], err = compile(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// has reports whether a name is in the list.
func (l list) has(name string) bool {
	return slices.ContainsFunc(l.patterns, func(p pattern) bool { return p.match(name) })
}

// find returns for each item of a server the first entry that it fits, nil for
// those in no entry.
func (l list) find(server string, items []Item) []*Entry {
	found := make([]*Entry, len(items))
	for i := range l.patterns {
		p := &l.patterns[i]
		for _, j := range p.of(server, items) {
			if found[j] == nil {
				found[j] = &p.Entry
			}
		}
	}
	return found
}

// of returns which of a server's items are meant.
func (p *pattern) of(server string, items []Item) (indices []int) {
	own := slices.ContainsFunc(items, func(it Item) bool { return p.match(it.Name) })
	for i, it := range items {
		if p.fits(server, it, own) {
			indices = append(indices, i)
		}
	}
	return indices
}

// fits reports whether an item is meant. own says that the pattern is about the
// server's own names.
func (p *pattern) fits(server string, it Item, own bool) bool {
	if p.match(it.Name) || !own && p.match(it.Shown) {
		return true
	}
	return slices.ContainsFunc(qualified(server, it.Name), p.match)
}
