package choose

import (
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/view"
)

// serverPrefix marks the name of a server in a list of tools or resources.
const serverPrefix = "server:"

// maxPatterns is the maximum number of globs and servers in a call. Matching takes time.
const maxPatterns = 20

// A chosen list is a list of toolman_activate after its names and globs were looked up.
type chosen struct {
	names   []string // by their names
	matched []string // by globs and servers
}

// all returns what is to be switched, if the opposite list has chosen other. A name beats the globs
// of the opposite list.
func (c *chosen) all(other *chosen) []string {
	named := setOf(other.names)
	matched := slices.DeleteFunc(slices.Clone(c.matched), func(name string) bool { return named[name] })
	return append(slices.Clone(c.names), matched...)
}

// A Chooser looks up the entries of the lists of toolman_activate, and collects what is wrong with
// them.
type Chooser struct {
	v        *view.View
	problems []string
	more     int // problems without a text
	patterns int
	skipped  []string        // what globs have matched and cannot be switched on
	seen     map[string]bool // names in skipped
}

// New returns a Chooser for the items of a view.
func New(v *view.View) *Chooser { return &Chooser{v: v} }

// Items looks up the lists of what is to be switched on and off, and returns the names of the
// items.
func (c *Chooser) Items(on, off []string, kind mcpwire.Kind) (allOn, allOff []string) {
	chosenOn, chosenOff := c.look(on, kind, true), c.look(off, kind, false)
	c.conflicts(chosenOn, chosenOff)
	return chosenOn.all(chosenOff), chosenOff.all(chosenOn)
}

// Disjoint adds a problem for each name that is in both lists.
func (c *Chooser) Disjoint(on, off []string) {
	for _, name := range common(on, off) {
		c.Fail("%s is to be both on and off", sanitize.Short(name))
	}
}

// Fail adds a problem.
func (c *Chooser) Fail(format string, args ...any) {
	if len(c.problems) >= maxProblems {
		c.more++
		return
	}
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// look looks up a list of names, globs and servers.
func (c *Chooser) look(list []string, kind mcpwire.Kind, on bool) *chosen {
	var out chosen
	for _, text := range list {
		server, ofServer := strings.CutPrefix(text, serverPrefix)
		switch {
		case c.v.Has(kind, text):
			c.byName(&out, kind, text, on)
		case ofServer && c.hasServer(server):
			c.byPattern(&out, kind, text, on, func(e *catalog.Entry) bool { return isServer(e.Source, server) })
		case len(c.problems) >= maxProblems:
			c.more++
		default:
			c.other(&out, kind, text, on)
		}
	}
	return &out
}

// hasServer reports whether the client may know a server with this name or namespace.
func (c *Chooser) hasServer(name string) bool {
	return slices.ContainsFunc(c.v.Catalog.Offering(), func(u *catalog.Source) bool { return isServer(u, name) })
}

func isServer(u *catalog.Source, name string) bool {
	return u.HasName(name) || u.Namespace == name && name != ""
}

// servers returns the names of the servers that the client may know.
func (c *Chooser) servers() (names []string) {
	for _, u := range c.v.Catalog.Offering() {
		names = append(names, serverPrefix+u.Name)
	}
	return names
}

// byName chooses an item by its name.
func (c *Chooser) byName(out *chosen, kind mcpwire.Kind, name string, on bool) {
	if e := c.v.Catalog.ByName[mcpwire.Tool][name]; on && kind == mcpwire.Tool && c.v.Rejection(e) != "" {
		c.Fail("%s cannot be switched on: %s", sanitize.Name(name), sanitize.Line(c.v.Rejection(e)))
		return
	}
	out.names = append(out.names, name)
}

// other looks up a text that is neither a name nor a server: another spelling of a name, a glob, or
// a name that the client may not use.
func (c *Chooser) other(out *chosen, kind mcpwire.Kind, text string, on bool) {
	kinds := catalog.SimilarKinds(kind)
	kept := c.v.Catalog.FindDenied(text, kinds...)
	noun := kind.String()
	switch {
	case kept != nil && kept.Hold != catalog.NotHeld && !on: // it may have been active before
		out.names = append(out.names, text)
		return
	case slices.Contains(c.v.Catalog.Own, text) || text == catalog.CatalogURI:
		c.Fail("%s is always active", text)
		return
	case kept != nil:
		c.Fail("%s", c.v.Catalog.Denial(kept, text))
		return
	}
	if meant := c.v.Qualified(kind, text); len(meant) == 1 {
		c.byName(out, kind, meant[0].Name, on)
		return
	} else if len(meant) > 1 {
		c.Fail("%s", Ambiguous(text, meant))
		return
	}
	if match := globMatcher(text); match != nil {
		if c.byPattern(out, kind, text, on, func(e *catalog.Entry) bool { return match(e.Name) || e.Shortened() && match(e.Prefix+e.Item.Name) }) {
			return
		}
		near := c.v.Catalog.Similar(kind, withoutGlob(text))
		if len(near) == 0 {
			near = c.v.Catalog.SimilarStarts(kind, literalStart(text))
		}
		if absent := c.v.Catalog.AbsentOwner(kind, literalStart(text)); absent != nil {
			c.Fail("no %s matches %s: %s", noun, sanitize.Short(text), absent.Error)
			return
		}
		c.Fail("no %s matches %s%s", noun, sanitize.Short(text), didYouMean(near))
		return
	}
	if server, ok := strings.CutPrefix(text, serverPrefix); ok {
		for _, a := range c.v.Catalog.Absent {
			if isServer(a.Source, server) {
				c.Fail("%s: %s", sanitize.Short(text), a.Error)
				return
			}
		}
		c.Fail("unknown server %s; there are %s", sanitize.Short(server), sanitize.Cut(strings.Join(c.servers(), ", "), 400))
		return
	}
	if absent := c.v.Catalog.AbsentOwner(kind, text); absent != nil {
		c.Fail("%s: %s", sanitize.Short(text), absent.Error)
		return
	}
	if c.hasServer(text) {
		c.Fail("unknown %s %s; %s%[2]s stands for all of that server", noun, sanitize.Short(text), serverPrefix)
		return
	}
	c.Fail("unknown %s %s%s", noun, sanitize.Short(text), didYouMean(c.v.Catalog.Similar(kind, text)))
}

// byPattern chooses the items that match. It reports false if there is none, not even one that the
// client may not use.
func (c *Chooser) byPattern(out *chosen, kind mcpwire.Kind, text string, on bool, match func(e *catalog.Entry) bool) bool {
	if c.patterns++; c.patterns > maxPatterns {
		c.Fail("%s is one glob or server too many; a call takes %d", sanitize.Short(text), maxPatterns)
		return true
	}
	found, forbidden := false, 0
	for _, k := range catalog.SimilarKinds(kind) {
		for _, e := range c.v.Catalog.Entries(k) {
			if !match(e) {
				continue
			}
			found = true
			if why := c.v.Rejection(e); on && why != "" {
				c.skip(e, why)
				continue
			}
			out.matched = append(out.matched, e.Name)
		}
		for _, e := range c.v.Catalog.Denied.Entries(k) {
			if match(e) {
				forbidden++
			}
		}
	}
	if !found && strings.HasPrefix(text, serverPrefix) {
		c.Fail("%s has no %ss that this client may use", sanitize.Short(text), kind)
		return true
	}
	if found && on && forbidden > 0 {
		c.skipped = append(c.skipped, fmt.Sprintf("%d more that match %s are not for this client", forbidden, sanitize.Short(text)))
	}
	return found
}

// skip notes that a tool stays off although a glob matches it.
func (c *Chooser) skip(e *catalog.Entry, why string) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !c.seen[e.Name] {
		c.seen[e.Name] = true
		c.skipped = append(c.skipped, sanitize.Name(e.Name)+" stays off: "+sanitize.Line(why))
	}
}

// maxSkipped is the maximum number of skipped items that a reply names.
const maxSkipped = 10

// Skipped returns what globs have matched and cannot be switched on, and why.
func (c *Chooser) Skipped() []string {
	if more := len(c.skipped) - maxSkipped; more > 0 {
		return append(c.skipped[:maxSkipped:maxSkipped], fmt.Sprintf("%d more were skipped", more))
	}
	return c.skipped
}

// conflicts adds a problem for each item that is to be both on and off. A name beats a glob.
func (c *Chooser) conflicts(on, off *chosen) {
	namedOn, namedOff := setOf(on.names), setOf(off.names)
	for _, name := range slices.Concat(common(on.names, off.names), common(on.matched, off.matched)) {
		if namedOn[name] == namedOff[name] {
			c.Fail("%s is to be both on and off", sanitize.Short(name))
		}
	}
}

// Err returns the problems as an error, or nil.
func (c *Chooser) Err() error {
	if len(c.problems) == 0 {
		return nil
	}
	text := strings.Join(c.problems, "; ")
	if c.more > 0 {
		text += fmt.Sprintf("; and %d more", c.more)
	}
	return fmt.Errorf("nothing was changed: %s. Correct the names and call %s again; the catalog in its description has them all", text, catalog.ActivateTool)
}

// Ambiguous returns the error for a name that may be any of several items.
func Ambiguous(name string, meant []*catalog.Entry) string {
	const most = 5
	var names []string
	for _, e := range meant[:min(len(meant), most)] {
		names = append(names, sanitize.Name(e.Name))
	}
	text := fmt.Sprintf("%s may be %s", sanitize.Short(name), strings.Join(names, " or "))
	if more := len(meant) - most; more > 0 {
		text += fmt.Sprintf(" or %d others", more)
	}
	return text + "; use one of these names"
}

// maxProblems is the maximum number of problems that an error lists. Finding similar names takes
// time.
const maxProblems = 20

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(names, " or ") + "?)"
}

// common returns the names that are in both lists.
func common(a, b []string) []string {
	inA := setOf(a)
	var both []string
	for _, name := range b {
		if inA[name] {
			both = append(both, name)
		}
	}
	return both
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
