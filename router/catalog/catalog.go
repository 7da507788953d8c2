package catalog

import (
	"slices"
	"sync"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
	"toolman/router/toolset"
)

// ActivateTool is the name of the tool that switches others on and off.
const ActivateTool = "toolman_activate"

// CatalogURI names the resource that holds the whole catalog as text.
const CatalogURI = "toolman://catalog"

// A Catalog is what exists: every item of every upstream that is ready, in the
// order of the configuration file. It does not change.
type Catalog struct {
	entries [mcpwire.Kinds][]*Entry
	ByName  [mcpwire.Kinds]map[string]*Entry
	Bare    map[string][]*Entry // resources by their upstream's own URI

	owners  [mcpwire.Kinds]map[string]string // who has a name or, when it is gone, had it
	sources []*Source

	Denied   *Catalog // what the policy keeps from a client, what its pin holds back, and what is too dangerous
	policy   *policy.Policy
	verdicts map[*Entry]policy.Verdict
	Limit    *ToolsetLimit // the toolsets that it is of; nil: of everything
	AnyState bool          // what is inactive may be used as well

	Own   []string // names of toolman's own tools
	stale bool     // toolsets may use tools that changed since they were saved
	index func() *toolset.Index
	// Collisions are the items whose name an earlier one had taken.
	Collisions []Collision
}

// A Collision is an item that is not offered because its name is taken.
type Collision struct {
	Loser *Entry
	By    string // the server that has the name, or "toolman"
}

// Entries returns the entries of a kind, in catalog order.
func (c *Catalog) Entries(k mcpwire.Kind) []*Entry { return c.entries[k] }

// Kinds returns the entries of each kind, in catalog order.
func (c *Catalog) Kinds() [mcpwire.Kinds][]*Entry { return c.entries }

// All returns every entry, kind by kind in catalog order.
func (c *Catalog) All() []*Entry { return slices.Concat(c.entries[:]...) }

// Lookup returns the entry with this name, or nil.
func (c *Catalog) Lookup(k mcpwire.Kind, name []byte) *Entry { return c.ByName[k][string(name)] }

// An Offer is what an upstream server has, or had when it went.
type Offer struct {
	Source  *Source
	Entries []*Entry
	Alive   bool
}

// New merges what the upstream servers offer, in their order. The first to offer a name has it for
// good: what a server that is gone had offered stays taken, so that no other can step into its place.
// own are the names of toolman's own tools. stale says that toolsets may use tools that changed since
// they were saved.
func New(offers []Offer, own []string, stale bool) *Catalog {
	c := newCatalog(own, stale)
	c.Denied = newCatalog(own, stale)
	for k := range c.owners {
		c.owners[k] = map[string]string{}
	}
	for _, name := range c.Own {
		c.owners[mcpwire.Tool][name] = "toolman"
	}
	c.owners[mcpwire.Resource][CatalogURI] = "toolman"
	for _, o := range offers {
		c.sources = append(c.sources, o.Source)
		for _, e := range o.Entries {
			c.add(e, o.Alive, c.owners[e.Item.Kind])
		}
	}
	c.Denied.owners, c.Denied.sources = c.owners, c.sources
	return c
}

func newCatalog(own []string, stale bool) *Catalog {
	c := &Catalog{Bare: map[string][]*Entry{}, Denied: new(Catalog), Own: own, stale: stale}
	c.index = sync.OnceValue(c.newToolIndex)
	for k := range c.ByName {
		c.ByName[k] = map[string]*Entry{}
	}
	return c
}

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

// ToolIndex finds tools for toolsets. It is made when it is first asked for: that
// takes a hash of every tool's definition.
func (c *Catalog) ToolIndex() *toolset.Index { return c.index() }

func (c *Catalog) newToolIndex() *toolset.Index {
	var tools []toolset.Tool
	for _, e := range c.entries[mcpwire.Tool] {
		tools = append(tools, toolset.Tool{Name: e.Name, Full: e.Prefix + e.Item.Name, Bare: e.Item.Name, RefID: e.RefID()})
	}
	return toolset.NewIndex(tools)
}

// Expand resolves a toolset among the catalog's tools.
func (c *Catalog) Expand(set *toolset.Set) *toolset.Expansion {
	x := c.ToolIndex().Expand(set, c.stale)
	for i := range x.Resolutions {
		r := &x.Resolutions[i]
		if e := c.IsDenied(r.Of, mcpwire.Tool); r.Outcome == toolset.Missing && e != nil && e.Hold != NotHeld {
			if _, verdict := c.Keeps(e); verdict == Held { // what a policy denies is not there
				r.Problem = "SECURITY: " + heldText("tool "+sanitize.Name(e.Name), e.Hold)
				r.ClientProblem = r.Problem
			}
		}
	}
	return x
}

// Same reports whether two catalogs offer the same entries of a kind.
func (c *Catalog) Same(other *Catalog, k mcpwire.Kind) bool {
	return slices.Equal(c.entries[k], other.entries[k])
}
