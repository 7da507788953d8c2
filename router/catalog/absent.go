package catalog

import (
	"fmt"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// An Absence is a configured server that is not available.
type Absence struct {
	Source *Source
	Why    string   // a few words, for lists
	Error  string   // for a caller: why, and what to do
	had    []*Entry // its items when it disconnected
}

// absencesAmong returns the absences of the servers that clients of the catalog may know of.
func (c *Catalog) absencesAmong(all []Absence) []Absence {
	var known []Absence
	for _, a := range all {
		if c.Knows(a.Source, a.had) {
			known = append(known, a)
		}
	}
	return known
}

// AbsentOwner returns the server that is not available and that an unknown name belongs to, or nil:
// the server had such an item, or the name begins with the server's namespace or name.
func (c *Catalog) AbsentOwner(k mcpwire.Kind, name string) *Absence {
	for i, a := range c.Absent {
		for _, e := range a.had {
			if e.Item.Kind == k && (e.Name == name || e.Item.Name == name) {
				return &c.Absent[i]
			}
		}
	}
	var best *Absence
	longest := -1
	for i, a := range c.Absent {
		prefix := a.Source.prefix(k)
		switch {
		case policy.Addresses(name, a.Source.PolicyName) || strings.HasPrefix(name, a.Source.PolicyName+"."):
			return &c.Absent[i]
		case prefix != "" && len(prefix) > longest && strings.HasPrefix(name, prefix):
			best, longest = &c.Absent[i], len(prefix)
		}
	}
	return best
}

// FormerText is the error for the name of an item that its server had in an earlier run and that
// clients saw in their lists until the server was ready; "" if it is no such name, or the client
// was not to see the item.
func (c *Catalog) FormerText(k mcpwire.Kind, name string) string {
	for _, e := range c.former {
		if e.Item.Kind == k && (e.Name == name || e.Item.Name == name) && c.AllowsUnlisted(c.policy, e.Source, e.Item) {
			return fmt.Sprintf("%s %s was in the catalog cache, and server %s no longer offers it; list again what there is, or go on without it",
				k, sanitize.Name(e.Name), e.Source.Name)
		}
	}
	return ""
}

// maxAbsence is the length in bytes of the line for a server that is not available.
const maxAbsence = 132

// Line returns the line of the catalog text for the server, without a line break.
func (a *Absence) Line() string {
	return sanitize.Cut(sanitize.Line("! server "+a.Source.Name+" is not available: "+a.Why), maxAbsence)
}
