package catalog

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/apps"
	"toolman/router/suggest"
)

// Apps are the tools with pages in a catalog, and their pages. It is immutable. A nil *Apps is
// empty.
type Apps struct {
	names     *apps.Names         // the URIs that several servers use
	templates []*Entry            // whose URIs several servers use
	pages     map[*Entry][]*Entry // to the tools whose page it is
	only      map[*Entry]bool     // pages that are in the catalog only for their tools
}

// pageLinks are the links of an entry to pages.
type pageLinks struct {
	App      *apps.Tool     // what a tool says about MCP Apps; nil: nothing
	relinked []jsonrpc.Edit // edits of App for the URIs that clients see
	variant  *variant       // of an entry that names a page, see among
}

// newApps returns the tools with pages in a catalog, or nil if there are none. It adds the pages
// that their servers do not list to the catalog, but not to its lists: a server need not list its
// pages.
func newApps(c *Catalog, names *apps.Names, only map[*Entry]bool) *Apps {
	a := &Apps{names: names, pages: map[*Entry][]*Entry{}, only: only}
	empty := names == nil
	for _, e := range c.entries[mcpwire.Tool] {
		empty = empty && e.App == nil
		for _, uri := range e.App.Pages() {
			if page := a.pageOf(c, e, uri); page != nil {
				a.pages[page] = append(a.pages[page], e)
			}
		}
	}
	if empty {
		return nil
	}
	for _, e := range slices.Concat(c.entries[mcpwire.Template], c.Denied.entries[mcpwire.Template]) {
		if e.Contested() {
			a.templates = append(a.templates, e)
		}
	}
	return a
}

// pageOf returns the entry of a tool's page, or nil if the page is held back. The page of an
// allowed tool is allowed. It needs no pin if its server does not list it, because a pin has no
// more than the list.
func (a *Apps) pageOf(c *Catalog, tool *Entry, uri string) *Entry {
	ofServer := func(e *Entry) bool { return e.Source == tool.Source }
	if i := slices.IndexFunc(c.Bare[uri], ofServer); i >= 0 {
		return c.Bare[uri][i]
	}
	if slices.ContainsFunc(c.Denied.Bare[uri], ofServer) {
		return nil
	}
	e := NewEntry(tool.Source, mcpwire.Item{Kind: mcpwire.Resource, Name: uri}, &Rules{}).among(a.names)
	if by, taken := c.owners[mcpwire.Resource][e.Name]; taken && by != tool.Source.Name {
		return nil
	}
	c.ByName[mcpwire.Resource][e.Name] = e
	c.Bare[uri] = append(c.Bare[uri], e)
	a.only[e] = true
	return e
}

// ToolsOf returns the tools that have a resource as their page.
func (a *Apps) ToolsOf(page *Entry) []*Entry {
	if a == nil {
		return nil
	}
	return a.pages[page]
}

// OnlyPage reports whether a resource is in the catalog only as the page of its tools: its server
// does not list it, or the client may only have the tools.
func (a *Apps) OnlyPage(e *Entry) bool { return a != nil && a.only[e] }

// isPageOf reports whether an entry is the page of a tool for which some returns true.
func (a *Apps) isPageOf(e *Entry, some func(*Entry) bool) bool {
	return slices.ContainsFunc(a.ToolsOf(e), some)
}

// Contested reports whether several servers use the same URI of a page.
func (a *Apps) Contested() bool { return a != nil && a.names != nil }

// shown returns the URI that clients see of a page, if that is not the server's own. Also a URI
// that matches a template can be contested.
func (a *Apps) shown(from *Source, uri string) (string, bool) {
	if shown, ok := a.names.Shown(from.Name, uri); ok {
		return shown, true
	}
	for _, e := range a.templates {
		if e.Source.Name == from.Name && e.MatchesURI(uri, Strict) {
			return e.shownScheme() + uri[len(apps.Scheme):], true
		}
	}
	return "", false
}

// NamePages returns a server's response with the URIs of pages that clients see. It returns m
// itself if they are those that the server uses.
func (a *Apps) NamePages(m *jsonrpc.Message, method mcpwire.Method, from *Source) *jsonrpc.Message {
	edits := apps.AppendRenames(nil, m, method, func(uri string) (string, bool) { return a.shown(from, uri) })
	if len(edits) == 0 {
		return m
	}
	named := new(jsonrpc.Message)
	if m.Spliced(named, nil, edits...) != nil {
		return m
	}
	return named
}

// contest returns the names of the pages that several servers use. Denied, inactive and held items
// count, and so do those of disconnected servers, so that the names are the same for every client
// and change as rarely as possible.
func contest(offers []Offer) *apps.Names {
	var servers []apps.Server
	for _, o := range offers {
		s := apps.Server{Name: o.Source.Name, Namespace: o.Source.Namespace}
		for _, e := range o.Entries {
			if e.IsPage() {
				s.Pages = append(s.Pages, e.Item.Name)
			}
			s.Pages = append(s.Pages, e.App.Pages()...)
		}
		servers = append(servers, s)
	}
	return apps.Contest(servers)
}

// A variant is the latest form of an entry with other URIs, kept so that a catalog that is built
// again has the same entries.
type variant struct{ atomic.Pointer[Entry] }

// among returns the entry with the URIs that clients see: the entry itself, unless several servers
// use its page.
func (e *Entry) among(names *apps.Names) *Entry {
	if names == nil || e.variant == nil {
		return e
	}
	rename := func(uri string) (string, bool) { return names.Shown(e.Source.Name, uri) }
	edits := e.App.Rename(rename)
	name, renamed := e.Name, false
	if e.IsPage() {
		if shown, ok := rename(e.Item.Name); ok {
			name, renamed = shown, true
		}
	}
	if len(edits) == 0 && !renamed {
		return e
	}
	same := func(a, b jsonrpc.Edit) bool { return a.Span == b.Span && bytes.Equal(a.New, b.New) }
	if last := e.variant.Load(); last != nil && last.Name == name && slices.EqualFunc(last.relinked, edits, same) {
		return last
	}
	next := *e
	next.Name, next.relinked, next.folded.name = name, edits, suggest.Fold(name)
	e.variant.Store(&next)
	return &next
}

// IsPage reports whether the entry is a page of MCP Apps, or a template for some.
func (e *Entry) IsPage() bool { return e.Item.Kind.IsURI() && apps.IsPage(e.Item.Name) }

// ForPages reports whether the entry is of no use to a model: a page, or a tool that only pages may
// call. The catalog text leaves it out.
func (e *Entry) ForPages() bool { return e.IsPage() || e.App.HiddenFromModel() }

// Contested reports whether the entry is a page whose URI several servers use.
func (e *Entry) Contested() bool { return e.IsPage() && e.Name != e.Item.Name }

// PinName returns the name of the entry in the lock file. It does not depend on other servers.
func (e *Entry) PinName() string {
	if e.IsPage() {
		return e.Prefix + e.Item.Name
	}
	return e.Name
}

// shownScheme returns how the name of a contested entry begins, in place of the scheme.
func (e *Entry) shownScheme() string {
	return e.Name[:len(e.Name)-len(e.Item.Name)+len(apps.Scheme)]
}

// ownURI returns the server's own form of a URI for the template of a page. It reports false if the
// template is not contested: the URI is then the server's own already.
func (e *Entry) ownURI(uri string) (string, bool) {
	if !e.Contested() {
		return "", false
	}
	rest, ok := strings.CutPrefix(uri, e.shownScheme())
	return apps.Scheme + rest, ok
}
