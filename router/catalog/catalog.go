package catalog

import (
	"slices"
	"sync"
	"time"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
	"toolman/router/toolset"
)

// ActivateTool is the name of the tool that switches items on and off.
const ActivateTool = "toolman_activate"

// CatalogURI is the URI of the resource that contains the whole catalog as text.
const CatalogURI = "toolman://catalog"

// A Catalog contains every item of every ready upstream server, in the order of the configuration
// file. It is immutable.
type Catalog struct {
	entries [mcpwire.Kinds][]*Entry
	ByName  [mcpwire.Kinds]map[string]*Entry
	Bare    map[string][]*Entry // resources by their server's own URI

	owners  [mcpwire.Kinds]map[string]string // by name: the server that has or, before it disconnected, had it
	sources []*Source
	Absent  []Absence // the configured servers that are not available
	former  []*Entry  // items of earlier runs that their servers no longer have

	Denied   *Catalog // entries that are denied by policy, held back by their pin, or too dangerous
	policy   *policy.Policy
	verdicts map[*Entry]policy.Verdict
	// conditional says that the policy has conditions on the arguments of some tools.
	conditional bool
	Limit       *ToolsetLimit // the toolsets that the catalog is limited to; nil: no limit
	AnyState    bool          // inactive items may also be used
	Apps        *Apps         // the tools with pages and their pages; nil: there are none

	Own          []string // names of toolman's own tools
	allowChanged bool     // toolsets may use tools that have changed since they were saved
	index        func() *toolset.Index
	finder       func() *finder
	// Collisions are the items whose name was already taken.
	Collisions []Collision
}

// A Collision is an item that is not offered because its name is taken.
type Collision struct {
	Loser *Entry
	By    string // the server that has the name, or "toolman"
}

// An Offer contains the items of an upstream server. If Alive is false, these are the items that
// the server had when it disconnected.
type Offer struct {
	Source  *Source
	Entries []*Entry
	Alive   bool
	Former  []*Entry // items of an earlier run that the server no longer has
	Why     string   // why the server is not available; "" if it is, or if that does not matter to clients
	Error   string   // the same for a caller, with what to do
}

// New returns the catalog of the servers' offers, in their order. A name belongs to the first
// server that offers it. The names of a disconnected server stay reserved, so that no other server
// can take its place. own are the names of toolman's own tools. If allowChanged is set, toolsets
// may use tools that have changed since the toolsets were saved.
func New(offers []Offer, own []string, allowChanged bool) *Catalog {
	c := newCatalog(own, allowChanged)
	c.Denied = newCatalog(own, allowChanged)
	for k := range c.owners {
		c.owners[k] = map[string]string{}
	}
	for _, name := range c.Own {
		c.owners[mcpwire.Tool][name] = "toolman"
	}
	c.owners[mcpwire.Resource][CatalogURI] = "toolman"
	names := contest(offers)
	for _, o := range offers {
		c.sources, c.former = append(c.sources, o.Source), append(c.former, o.Former...)
		if o.Why != "" {
			c.Absent = append(c.Absent, Absence{o.Source, o.Why, o.Error, o.Entries})
		}
		for _, e := range o.Entries {
			c.add(e.among(names), o.Alive, c.owners[e.Item.Kind])
		}
	}
	c.Denied.owners, c.Denied.sources = c.owners, c.sources
	c.Apps = newApps(c, names, map[*Entry]bool{})
	return c
}

func newCatalog(own []string, allowChanged bool) *Catalog {
	c := &Catalog{Bare: map[string][]*Entry{}, Denied: new(Catalog), Own: own, allowChanged: allowChanged}
	c.index = sync.OnceValue(c.newToolIndex)
	c.finder = sync.OnceValue(func() *finder { return newFinder(c) })
	for k := range c.ByName {
		c.ByName[k] = map[string]*Entry{}
	}
	return c
}

// add adds an entry unless its name is taken. It reserves the name.
func (c *Catalog) add(e *Entry, alive bool, owners map[string]string) {
	if by, taken := owners[e.Name]; taken {
		if alive {
			c.Collisions = append(c.Collisions, Collision{e, by})
		}
		return
	}
	owners[e.Name] = e.Source.Name
	switch {
	case !alive:
	case e.Hold != NotHeld, e.Danger.Denies():
		c.Denied.put(e)
	default:
		c.put(e)
	}
}

func (c *Catalog) put(e *Entry) {
	k := e.Item.Kind
	c.entries[k] = append(c.entries[k], e)
	c.ByName[k][e.Name] = e
	if k == mcpwire.Resource {
		c.Bare[e.Item.Name] = append(c.Bare[e.Item.Name], e)
	}
}

// Entries returns the entries of a kind in catalog order.
func (c *Catalog) Entries(k mcpwire.Kind) []*Entry { return c.entries[k] }

// Kinds returns the entries of each kind in catalog order.
func (c *Catalog) Kinds() [mcpwire.Kinds][]*Entry { return c.entries }

// Tools returns the tools in catalog order.
func (c *Catalog) Tools() []*Entry { return c.entries[mcpwire.Tool] }

// Build returns the toolset with tools of the catalog. The error names every reference that does
// not identify exactly one tool.
func (c *Catalog) Build(set toolset.Set, refs []toolset.Ref) (toolset.Set, error) {
	return c.ToolIndex().Build(set, refs, time.Now(), func(name string) []string { return c.Similar(mcpwire.Tool, name) })
}

// All returns every entry, ordered by kind, then in catalog order.
func (c *Catalog) All() []*Entry { return slices.Concat(c.entries[:]...) }

// Lookup returns the entry with this name, or nil.
func (c *Catalog) Lookup(k mcpwire.Kind, name []byte) *Entry { return c.ByName[k][string(name)] }

// Same reports whether two catalogs offer the same items of a kind.
func (c *Catalog) Same(other *Catalog, k mcpwire.Kind) bool {
	return slices.EqualFunc(c.entries[k], other.entries[k], (*Entry).Same)
}

// PrepareSearch makes what Search needs, once for a catalog and all that are made from it. For
// thousands of items that takes tens of milliseconds.
func (c *Catalog) PrepareSearch() { c.finder() }

// Search returns the entries that fit a query in plain words best, the best first, at most limit of
// those for which allowed returns true.
func (c *Catalog) Search(query string, limit int, allowed func(*Entry) bool) []*Entry {
	return c.finder().search(query, limit, func(e *Entry) bool { return c.ByName[e.Item.Kind][e.Name] == e && allowed(e) })
}

// ToolIndex returns the index that finds tools for toolsets. It is created on first use, because it
// needs a hash of every tool's definition.
func (c *Catalog) ToolIndex() *toolset.Index { return c.index() }

func (c *Catalog) newToolIndex() *toolset.Index {
	var tools []toolset.Tool
	for _, e := range c.entries[mcpwire.Tool] {
		tools = append(tools, toolset.Tool{Name: e.Name, Full: e.Prefix + e.Item.Name, Bare: e.Item.Name, Server: e.Source.PolicyName, Other: e.dottedNames(), RefID: e.RefID(), NamelessRefID: e.NamelessRefID()})
	}
	return toolset.NewIndex(tools)
}

// Expand resolves a toolset among the catalog's tools.
func (c *Catalog) Expand(set *toolset.Set) *toolset.Expansion {
	x := c.ToolIndex().Expand(set, c.allowChanged)
	for i := range x.Resolutions {
		r := &x.Resolutions[i]
		if e := c.FindDenied(r.Of, mcpwire.Tool); r.Outcome.NotThere() && e != nil && e.Hold != NotHeld {
			if _, verdict := c.DeniedTarget(e); verdict == Held { // a tool that a policy denies is reported as missing
				r.Problem = "SECURITY: " + heldText("tool "+sanitize.Name(e.Name), e.Hold)
				r.ClientProblem = r.Problem
			}
		}
	}
	return x
}
