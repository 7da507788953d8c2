package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gobwas/glob"
)

// An Item is what a verdict is about: a tool, resource, resource template or prompt.
type Item struct {
	Name    string // its server's name for it
	Shown   string // its name for clients
	Full    string // with its namespace; Shown may be shorter
	Effects bool   // it may change something: it is a tool that nobody says only reads
}

// Qualifies reports whether text consists of the server's name and the item's: server:name or
// mcp__server__name.
func Qualifies(text, server, name string) bool {
	before, ok := strings.CutSuffix(text, name)
	if !ok || server == "" {
		return false
	}
	if s, ok := strings.CutSuffix(before, ":"); ok && s == server {
		return true
	}
	s, ok := strings.CutPrefix(before, "mcp__")
	return ok && len(s) == len(server)+2 && s[:len(server)] == server && s[len(server):] == "__"
}

// Dotted reports whether text is the server's name, a dot and the item's name.
func Dotted(text, server, name string) bool {
	return server != "" && len(text) == len(server)+1+len(name) && text[len(server)] == '.' &&
		strings.HasPrefix(text, server) && strings.HasSuffix(text, name)
}

// Addresses reports whether text begins like a name that Qualifies accepts for an item of the
// server.
func Addresses(text, server string) bool {
	return server != "" && (strings.HasPrefix(text, server+":") || strings.HasPrefix(text, "mcp__"+server+"__"))
}

// A pattern is a compiled Entry. It also matches its own text, which as a glob may mean something
// else: URI templates contain braces.
type pattern struct {
	Entry
	glob *glob.Pattern
}

func (p *pattern) match(name string) bool { return name == p.Text || p.glob.Match(name) }

// matchQualified reports whether the pattern matches a name that Qualifies accepts, or is a name
// that Dotted accepts.
func (p *pattern) matchQualified(server, name string) bool {
	return Dotted(p.Text, server, name) || server != "" && (p.match(server+":"+name) || p.match("mcp__"+server+"__"+name))
}

// names reports whether the pattern begins with the server's name in a form that matchQualified
// knows. A list that allows items requires that: otherwise the glob "get_*" would match every tool
// of a server get_x, as get_x:TOOL.
func (p *pattern) names(server string) bool {
	return Addresses(p.Text, server) || server != "" && strings.HasPrefix(p.Text, server+".")
}

// in returns the pattern with its place in a file, for messages.
func (p *pattern) in(file string) string { return fmt.Sprintf("%q (%s:%d)", p.Text, file, p.Line) }

// Matches reports whether the entry is the name of a server or service, or a glob that matches it.
// An entry that is not a valid glob matches only itself.
func (e Entry) Matches(name string) bool { return e.Matcher()(name) }

// Matcher returns [Entry.Matches] for many names.
func (e Entry) Matcher() func(name string) bool {
	g, err := glob.Compile(e.Text)
	return func(name string) bool { return e.Text == name || err == nil && g.Match(name) }
}

// A list is a compiled List.
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

// find returns for each item of a server the first entry that applies to it; nil: none does.
func (l list) find(server string, items []Item) []*Entry {
	found := make([]*Entry, len(items))
	for i := range l.patterns {
		p := &l.patterns[i]
		for _, j := range p.find(server, items) {
			if found[j] == nil {
				found[j] = &p.Entry
			}
		}
	}
	return found
}

// find returns the indices of the items of a server that the pattern applies to. If it matches one
// of the server's own names, the names for clients do not count.
func (p *pattern) find(server string, items []Item) (indices []int) {
	own := slices.ContainsFunc(items, func(it Item) bool { return p.match(it.Name) })
	for i, it := range items {
		if p.match(it.Name) || !own && p.match(it.Shown) || p.names(server) && p.matchQualified(server, it.Name) {
			indices = append(indices, i)
		}
	}
	return indices
}
