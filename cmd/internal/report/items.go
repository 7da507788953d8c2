package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/table"
	"toolman/cmd/internal/setup"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/cache"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

const (
	maxItems = 20 // items of a server that are held back, and dangerous tools, that are named

	maxMembers    = 10 // unknown members that are named for a server
	maxMemberName = 40 // characters of such a name

	clientPrefix  = "mcp__toolman__" // what Claude Code puts before the names of a server called toolman
	maxClientName = 64               // characters of a name that clients accept
)

// bySource groups entries by the servers that offer them, in the order of the first entry of each.
func bySource(all []*catalog.Entry) (groups [][]*catalog.Entry) {
	at := map[*catalog.Source]int{}
	for _, e := range all {
		i, known := at[e.Source]
		if !known {
			i, at[e.Source], groups = len(groups), len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	return groups
}

// atMost returns the first maxItems texts, and how many more there are.
func atMost(texts []string) []string {
	if more := len(texts) - maxItems; more > 0 {
		return append(texts[:maxItems], fmt.Sprintf("and %d more", more))
	}
	return texts
}

// addHeld adds a problem for each server with items that differ from their pins.
func (rep *Report) addHeld(offered *catalog.Catalog) {
	for _, held := range bySource(offered.Held()) {
		var lines []string
		for _, e := range held {
			lines = append(lines, fmt.Sprintf("%s %s: %s", e.Item.Kind, sanitize.Line(e.Name), e.Hold))
		}
		lines = atMost(lines)
		if slices.ContainsFunc(held, isNewResource) {
			lines = append(lines, "resources that a server adds as it runs can be named in unpinned, in tools.toml")
		}
		rep.ofServer("%s held back of server %s; toolman lock --diff shows what has changed, toolman lock --accept NAME... takes it:\n    %s",
			cli.CountIs(len(held), "item"), held[0].Source.Name, strings.Join(lines, "\n    "))
	}
}

func isNewResource(e *catalog.Entry) bool {
	return e.Hold == catalog.NotPinned && e.Item.Kind == mcpwire.Resource
}

// UnknownMembers returns a line for each server whose items have members that MCP does not
// define. Clients may show them to a model, and no pin covers them. Items without a pin are left
// out.
func UnknownMembers(offered *catalog.Catalog, unpinned catalog.Globs) (lines []string) {
	strange := slices.DeleteFunc(offered.All(), func(e *catalog.Entry) bool {
		return len(e.Item.UnknownMembers()) == 0 || unpinned.Match(e)
	})
	for _, items := range bySource(strange) {
		var names []string
		for _, e := range items {
			for _, name := range e.Item.UnknownMembers() {
				if head := sanitize.First(name, maxMemberName); len(head) < len(name) {
					name = head + "…"
				}
				if name = sanitize.Visible(name); !slices.Contains(names, name) && len(names) < maxMembers {
					names = append(names, name)
				}
			}
		}
		first := items[0]
		lines = append(lines, fmt.Sprintf("server %s gives %s members that MCP does not have and pins do not cover: %s (the first is %s %s)",
			first.Source.Name, cli.Count(len(items), "item"), strings.Join(names, ", "), first.Item.Kind, sanitize.Visible(first.Name)))
	}
	return lines
}

// addNames notes names that clients may change or reject.
func (rep *Report) addNames(offered *catalog.Catalog, separator string) {
	for _, k := range []mcpwire.Kind{mcpwire.Tool, mcpwire.Prompt} {
		for _, e := range offered.Entries(k) {
			if e.Shortened() {
				rep.note("%s %s of server %s is offered as %s: clients take 64 characters of A-Z a-z 0-9 _ . -",
					k, sanitize.Line(e.Item.Name), e.Source.Name, e.Name)
			} else if k == mcpwire.Tool && len(clientPrefix+e.Name) > maxClientName {
				rep.note("tool %s is longer than 64 characters with the prefix %s that some clients add; a shorter namespace helps", e.Name, clientPrefix)
			}
		}
	}
	inNamespace := func(e *catalog.Entry) bool { return e.Source.Namespace != "" && !e.IsPage() }
	if separator == "_" && slices.ContainsFunc(offered.Entries(mcpwire.Resource), inNamespace) {
		rep.note(`resources are offered with "_" behind the namespace, which no URI scheme may hold; clients that check URIs need uri_separator = "+"`)
	}
}

// addPolicy notes what policies remove from the lists.
func (rep *Report) addPolicy(c *config.Config, denied int, unused []string) {
	if c.Rules == nil {
		return
	}
	agent := "agent " + sanitize.Line(c.Agent)
	if c.Agent == "" {
		agent = "clients that no --agent is given for"
	}
	if denied > 0 {
		rep.note("policies keep %d of all tools, resources and prompts from %s; toolman explain NAME says why", denied, agent)
	}
	if a := c.Rules.Agents[c.Agent]; len(a.Inherits) > 0 {
		rep.note("%s inherits from %s", agent, sanitize.Line(strings.Join(table.Texts(a.Inherits), ", ")))
	}
	for _, text := range unused {
		rep.note("a policy names an item that its server does not have, %s", sanitize.Line(text))
	}
}

// addDenials notes rules of deny that never apply.
func (rep *Report) addDenials(r *router.Router) {
	if rep.allReady() {
		for _, text := range r.IdleDenials() {
			rep.note("%s; correct it if it is meant to deny something", sanitize.Line(text))
		}
	}
}

// addDangers notes which tools are dangerous.
func (rep *Report) addDangers(c *config.Config, r *router.Router) {
	tools, unused := r.Dangerous()
	var names []string
	for _, e := range tools {
		names = append(names, sanitize.Line(e.Name))
	}
	if len(tools) > 0 {
		rep.note("dangerous (confirm = %q): %s", c.Dangers.Confirm, strings.Join(atMost(names), ", "))
	}
	if rep.allReady() {
		for _, text := range unused {
			rep.note("dangerous_tools names a tool that no server has, %s", sanitize.Line(text))
		}
	}
}

// addUnused notes patterns of the file that match nothing.
func (rep *Report) addUnused(c *config.Config, r *router.Router) {
	if !rep.allReady() {
		return
	}
	for i, a := range c.ActiveToolsets {
		if a.Toolset == "" && a.Because == "" && !r.Catalog().MatchesAny(r.Active[i]) {
			rep.note("%s, which matches nothing", sanitize.Line(r.Active[i].Rule))
		}
	}
	for i, pattern := range c.Unpinned {
		if !r.Catalog().MatchesAny(r.Unpinned[i]) {
			rep.note("unpinned has %q, which matches nothing now", sanitize.Line(pattern))
		}
	}
}

// addCaches notes patterns of cache that have no effect.
func (rep *Report) addCaches(c *config.Config, offered *catalog.Catalog) {
	if !rep.allReady() {
		return
	}
	for _, s := range c.Servers {
		for _, written := range s.Cache {
			rule, err := cache.NewRule(written.Key, written.For)
			matches := func(e *catalog.Entry) bool {
				return e.Source.PolicyName == cmp.Or(s.Name, s.Namespace) && rule.Tools.Match(e.Item.Name) && e.ReadOnly()
			}
			if err == nil && s.Enabled && !slices.ContainsFunc(slices.Concat(offered.All(), offered.Denied.All()), matches) {
				rep.note("cache of server %s has %q, which matches no read-only tool", sanitize.Line(cmp.Or(s.Name, s.Namespace)), sanitize.Line(written.Key))
			}
		}
	}
}

// maxReferences is how many references of a toolset are named.
const maxReferences = 20

// addToolsets reports what toolsets leave out, and files with toolsets that cannot be used.
func (rep *Report) addToolsets(c *config.Config, r *router.Router) {
	o := &r.Options
	saved, err := o.Shelf.Load()
	if err != nil {
		rep.problem("%s", sanitize.Line(err.Error()))
	}
	for _, set := range o.Toolsets {
		if _, hidden := saved[set.Name]; hidden && !set.Default {
			rep.note("there is a saved toolset %s, too, which is not used: %s has its name", set.Name, &set)
		}
	}
	sets, _ := setup.AllSets(o)
	for i := range sets {
		rep.addSet(r.Catalog(), &sets[i])
	}
	switch set, err := setup.Equipped(o, c); {
	case err != nil:
		rep.problem("no toolset is equipped at start: %s; toolman toolset unequip ends that", sanitize.Line(err.Error()))
	case set != nil:
		rep.note("%s is equipped: of tools only its own are active at start", set)
	}
}

// addSet reports what one toolset leaves out, except for tools of servers that are not ready and
// tools that are held back, which are reported elsewhere.
func (rep *Report) addSet(offered *catalog.Catalog, set *toolset.Set) {
	reported := 0
	for i, found := range offered.Expand(set).Resolutions {
		missing := found.Outcome.NotThere()
		if found.Problem == "" || missing && (!rep.allReady() || isHeld(offered, set, i)) {
			continue
		}
		if reported++; reported > maxReferences {
			owner := ""
			if set.Owner != "" {
				owner = " --owner " + set.Owner
			}
			rep.note("%s: toolman toolset show%s %s says more", set, owner, set.Name)
			return
		}
		if missing || len(found.Tools) > 0 {
			rep.note("%s: %s", set, sanitize.Line(found.Problem))
		} else {
			rep.problem("%s: %s", set, sanitize.Line(found.Problem))
		}
	}
}

// isHeld reports whether the i-th reference of a set leads to a tool that is held back.
func isHeld(offered *catalog.Catalog, set *toolset.Set, i int) bool {
	return slices.ContainsFunc(offered.Held(), func(e *catalog.Entry) bool {
		if i < len(set.Patterns) {
			p := set.Patterns[i]
			return p.Text == e.Name || p.Server == e.Source.PolicyName || p.Glob != nil && p.Glob.Match(e.Name)
		}
		return set.Tools[i-len(set.Patterns)].NamespacedName == e.Name
	})
}
