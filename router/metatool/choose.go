package metatool

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

// A chooser looks up the entries of the lists of toolman_activate.
type chooser struct {
	v        *view.View
	problems []string
	more     int // problems without a text
	patterns int
	skipped  []string        // what globs have matched and cannot be switched on
	seen     map[string]bool // names in skipped
}

func (c *chooser) fail(format string, args ...any) {
	if len(c.problems) >= maxProblems {
		c.more++
		return
	}
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// look looks up a list of names, globs and servers.
func (c *chooser) look(list []string, kind mcpwire.Kind, on bool) *chosen {
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
func (c *chooser) hasServer(name string) bool {
	return slices.ContainsFunc(c.v.Catalog.Offering(), func(u *catalog.Source) bool { return isServer(u, name) })
}

func isServer(u *catalog.Source, name string) bool {
	return u.HasName(name) || u.Namespace == name && name != ""
}

// servers returns the names of the servers that the client may know.
func (c *chooser) servers() (names []string) {
	for _, u := range c.v.Catalog.Offering() {
		names = append(names, serverPrefix+u.Name)
	}
	return names
}

// byName chooses an item by its name.
func (c *chooser) byName(out *chosen, kind mcpwire.Kind, name string, on bool) {
	if e := c.v.Catalog.ByName[mcpwire.Tool][name]; on && kind == mcpwire.Tool && c.v.Rejection(e) != "" {
		c.fail("%s cannot be switched on: %s", sanitize.Name(name), sanitize.Line(c.v.Rejection(e)))
		return
	}
	out.names = append(out.names, name)
}

// other looks up a text that is neither a name nor a server: another spelling of a name, a glob, or
// a name that the client may not use.
func (c *chooser) other(out *chosen, kind mcpwire.Kind, text string, on bool) {
	kinds := catalog.SimilarKinds(kind)
	kept := c.v.Catalog.FindDenied(text, kinds...)
	noun := kind.String()
	switch {
	case kept != nil && kept.Hold != catalog.NotHeld && !on: // it may have been active before
		out.names = append(out.names, text)
		return
	case slices.Contains(c.v.Catalog.Own, text) || text == catalog.CatalogURI:
		c.fail("%s is always active", text)
		return
	case kept != nil:
		c.fail("%s", c.v.Catalog.Denial(kept, text))
		return
	}
	if meant := c.v.Qualified(kind, text); len(meant) == 1 {
		c.byName(out, kind, meant[0].Name, on)
		return
	} else if len(meant) > 1 {
		c.fail("%s", ambiguous(text, meant))
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
			c.fail("no %s matches %s: %s", noun, sanitize.Short(text), absent.Error)
			return
		}
		c.fail("no %s matches %s%s", noun, sanitize.Short(text), didYouMean(near))
		return
	}
	if server, ok := strings.CutPrefix(text, serverPrefix); ok {
		for _, a := range c.v.Catalog.Absent {
			if isServer(a.Source, server) {
				c.fail("%s: %s", sanitize.Short(text), a.Error)
				return
			}
		}
		c.fail("unknown server %s; there are %s", sanitize.Short(server), sanitize.Cut(strings.Join(c.servers(), ", "), 400))
		return
	}
	if absent := c.v.Catalog.AbsentOwner(kind, text); absent != nil {
		c.fail("%s: %s", sanitize.Short(text), absent.Error)
		return
	}
	if c.hasServer(text) {
		c.fail("unknown %s %s; %s%[2]s stands for all of that server", noun, sanitize.Short(text), serverPrefix)
		return
	}
	c.fail("unknown %s %s%s", noun, sanitize.Short(text), didYouMean(c.v.Catalog.Similar(kind, text)))
}

// byPattern chooses the items that match. It reports false if there is none, not even one that the
// client may not use.
func (c *chooser) byPattern(out *chosen, kind mcpwire.Kind, text string, on bool, match func(e *catalog.Entry) bool) bool {
	if c.patterns++; c.patterns > maxPatterns {
		c.fail("%s is one glob or server too many; a call takes %d", sanitize.Short(text), maxPatterns)
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
		c.fail("%s has no %ss that this client may use", sanitize.Short(text), kind)
		return true
	}
	if found && on && forbidden > 0 {
		c.skipped = append(c.skipped, fmt.Sprintf("%d more that match %s are not for this client", forbidden, sanitize.Short(text)))
	}
	return found
}

// skip notes that a tool stays off although a glob matches it.
func (c *chooser) skip(e *catalog.Entry, why string) {
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

// warnings returns what was skipped.
func (c *chooser) warnings() []string {
	if more := len(c.skipped) - maxSkipped; more > 0 {
		return append(c.skipped[:maxSkipped:maxSkipped], fmt.Sprintf("%d more were skipped", more))
	}
	return c.skipped
}

// conflicts adds a problem for each item that is to be both on and off. A name beats a glob.
func (c *chooser) conflicts(on, off *chosen) {
	namedOn, namedOff := setOf(on.names), setOf(off.names)
	for _, name := range slices.Concat(common(on.names, off.names), common(on.matched, off.matched)) {
		if namedOn[name] == namedOff[name] {
			c.fail("%s is to be both on and off", sanitize.Short(name))
		}
	}
}

// err returns the problems as an error, or nil.
func (c *chooser) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	text := strings.Join(c.problems, "; ")
	if c.more > 0 {
		text += fmt.Sprintf("; and %d more", c.more)
	}
	return fmt.Errorf("nothing was changed: %s. Correct the names and call %s again; the catalog in its description has them all", text, catalog.ActivateTool)
}

// ambiguous returns the error for a name that may be any of several items.
func ambiguous(name string, meant []*catalog.Entry) string {
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
