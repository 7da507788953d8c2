package router

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/toolset"
	"toolman/router/upstream"
	"toolman/router/view"
)

// policed is what the servers of a rig with policies offer. Some names are several
// servers'.
func policed() []offer {
	return []offer{
		{namespace: "a", tools: []string{"get", "same", `{"name":"put","annotations":{"readOnlyHint":false}}`, `{"name":"look","annotations":{"readOnlyHint":true}}`},
			resources: []string{"a://1", "a://2", "x://same"}, templates: []string{"at://{id}", "bt://{id}"}, prompts: []string{"ask", "tell"}},
		{namespace: "b", tools: []string{`{"name":"same","annotations":{"readOnlyHint":true}}`, "only"}, resources: []string{"x://same", "b://1", "bt://1"},
			templates: []string{"bt://{id}"}, prompts: []string{"ask"}},
		{tools: []string{"bare", "odd one"}, resources: []string{"c://1"}, templates: []string{"ct://{+path}"}, prompts: []string{"say"}},
	}
}

// someRules are random rules about those servers.
func someRules(rng *rand.Rand) *policy.Rules {
	line := 0
	list := func(from ...string) policy.List {
		line += 10
		l := policy.List{Line: line}
		for _, text := range from {
			if rng.IntN(3) == 0 {
				l.Entries = append(l.Entries, policy.Entry{Text: text, Line: line + 1})
			}
		}
		return l
	}
	lists := func() map[string]policy.List {
		all := map[string]policy.List{}
		for _, server := range []string{"a", "b", "c"} {
			if rng.IntN(2) == 0 {
				all[server] = list("get", "*same", "*_look", "a:put", "mcp__a__ask", "?://*", "at://{id}", "bt*", "ask", "bare", "c:*", "b_*")
			}
		}
		return all
	}
	r := &policy.Rules{File: "tools.toml", Exposed: lists(), Default: policy.Flag{On: rng.IntN(2) == 0, Line: 5}, Agents: map[string]policy.Agent{}}
	for _, agent := range []string{"x", "y"} {
		r.Agents[agent] = policy.Agent{Servers: list("*", "a", "b", "c", "a"), ReadOnly: policy.Flag{On: rng.IntN(4) == 0, Line: 7}, Overrides: lists()}
	}
	return r
}

// somePins are pins of some of what the servers offer, some of them of what it was before. Half of
// the time there are none.
func somePins(t *testing.T, rng *rand.Rand) *catalog.Pins {
	t.Helper()
	if rng.IntN(2) == 0 {
		return nil
	}
	var p catalog.Pins
	for k := range p {
		p[k] = map[string]string{}
	}
	for _, e := range newRig(t, setup{silent: true}, policed()...).r.Catalog().All() {
		switch rng.IntN(6) {
		case 0:
		case 1:
			p[e.Item.Kind][e.Name] = mcpwire.RefID([]byte("what it was"))
		default:
			p[e.Item.Kind][e.Name] = e.RefID()
		}
	}
	return &p
}

// someSet is a toolset: names and globs, and references, some of which are to what a tool was
// before.
func someSet(t *testing.T, rng *rand.Rand, name string) toolset.Set {
	t.Helper()
	var patterns []string
	for _, text := range []string{"a_*", "b_only", "*same", "bare", "none", "*_look"} {
		if rng.IntN(3) == 0 {
			patterns = append(patterns, text)
		}
	}
	set := fixed(t, name, patterns...)
	for _, e := range newRig(t, setup{silent: true}, policed()...).r.Catalog().Tools() {
		switch rng.IntN(6) {
		case 0:
			set.Tools = append(set.Tools, toolset.Ref{NamespacedName: e.Name, RefID: e.RefID()})
		case 1:
			set.Tools = append(set.Tools, toolset.Ref{NamespacedName: e.Name, RefID: "sha256:" + strings.Repeat("0", 64)})
		}
	}
	return set
}

// holds reports whether the set has a tool that clients may have.
func holds(set *toolset.Set, e *catalog.Entry) bool {
	return set != nil && (slices.ContainsFunc(set.Patterns, func(p toolset.Pattern) bool { return p.Glob.Match(e.Name) }) ||
		slices.Contains(set.Tools, toolset.Ref{NamespacedName: e.Name, RefID: e.RefID()}))
}

// A world is what decides about items, and an opinion about each that is formed without the
// router's help.
type world struct {
	policy            *policy.Policy
	dangers           *policy.DangerRules // nobody may call those; nil: none
	pins              *catalog.Pins
	active            []string     // globs
	equipped, enabled *toolset.Set // nil: none
}

func someWorld(t *testing.T, rng *rand.Rand, p *policy.Policy) *world {
	w := &world{policy: p, pins: somePins(t, rng)}
	for _, glob := range []string{"*", "a_*", "b_*", "*://*", "*same"} {
		if rng.IntN(3) == 0 {
			w.active = append(w.active, glob)
		}
	}
	if rng.IntN(3) == 0 {
		set := someSet(t, rng, "start")
		w.equipped = &set
	}
	if rng.IntN(2) == 0 {
		w.dangers = &policy.DangerRules{File: "tools.toml", Confirm: policy.Deny}
		for i, text := range []string{"a_put", "b:*", "odd?one", "*look"} {
			if rng.IntN(2) == 0 {
				w.dangers.Tools = append(w.dangers.Tools, policy.Entry{Text: text, Line: 90 + i})
			}
		}
	}
	return w
}

func (w *world) rig(t *testing.T, more toolset.Set) *rig {
	t.Helper()
	guard, err := w.dangers.Compile()
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, setup{active: w.active, Options: Options{Policy: w.policy, Dangers: guard, Pins: w.pins, Mode: view.ModeMutate, Equipped: w.equipped,
		Toolsets: []toolset.Set{more}, MetaTools: view.MetaTools{Toolsets: true, Manage: true}}}, policed()...)
	g.named("c", 2)
	return g
}

// everyEntry is what the servers offer, whoever may have it.
func (g *rig) everyEntry() []*catalog.Entry {
	c := g.r.catalog.Load()
	return slices.Concat(c.All(), c.Denied.All())
}

// judges says what becomes of an entry, and with which words a caller is refused that uses its
// name.
func (w *world) judges(g *rig, e *catalog.Entry) (catalog.Verdict, string) {
	return w.judgesBy(g, e, e.Name)
}

// namesServer reports whether a name of an entry has the server in it.
func namesServer(e *catalog.Entry, name string) bool {
	server := e.Source.PolicyName
	return name == server+":"+e.Item.Name || name == "mcp__"+server+"__"+e.Item.Name || name == e.Name && e.Source.Namespace == server
}

// judgesBy is judges for a caller that uses another name. One without the server learns nothing of
// that.
func (w *world) judgesBy(g *rig, e *catalog.Entry, name string) (catalog.Verdict, string) {
	var items []policy.Item
	at := 0
	for _, other := range g.everyEntry() {
		if upstream.Of(other.Source) != upstream.Of(e.Source) {
			continue
		}
		if other == e {
			at = len(items)
		}
		effects := other.Item.Kind == mcpwire.Tool && !strings.Contains(string(other.Item.Raw), `"readOnlyHint":true`)
		items = append(items, policy.Item{Name: other.Item.Name, Shown: other.Name, Effects: effects})
	}
	if v := w.policy.Judge(e.Source.PolicyName, items)[at]; !v.Allowed {
		if !namesServer(e, name) {
			return catalog.Denied, fmt.Sprintf("%s %s is denied by policy: the rule is at %s. Go on", kindOf(e), name, v.Place())
		}
		return catalog.Denied, fmt.Sprintf("%s %s is denied by policy: %s. Go on without it; the maintainer of that file can allow it there", e.Item.Kind, e.Name, v)
	}
	is := fmt.Sprintf("%s %s is ", e.Item.Kind, e.Name)
	if !namesServer(e, name) {
		is = fmt.Sprintf("%s %s is ", kindOf(e), name)
	}
	if w.pins != nil {
		switch was, pinned := w.pins[e.Item.Kind][e.Name]; {
		case !pinned:
			return catalog.Held, is + "held back: it is not in the lock file"
		case was != e.RefID():
			return catalog.Held, is + "held back: it is not what the lock file says it was"
		}
	}
	if line := w.danger(e); line > 0 {
		return catalog.Denied, is + fmt.Sprintf("denied by policy: dangerous: refused (tools.toml:%d). Go on without it", line)
	}
	if w.uses(e) {
		return catalog.Active, ""
	}
	return catalog.Inactive, fmt.Sprintf("%s %s is not active: ", e.Item.Kind, e.Name)
}

// kindOf is the kind of an entry for who does not know that it is a template.
func kindOf(e *catalog.Entry) mcpwire.Kind {
	if e.Item.Kind == mcpwire.Template {
		return mcpwire.Resource
	}
	return e.Item.Kind
}

// danger is the line of the entry of dangerous_tools that a tool fits, 0 for none.
func (w *world) danger(e *catalog.Entry) int {
	if w.dangers == nil || e.Item.Kind != mcpwire.Tool {
		return 0
	}
	fitting := map[string]string{"a_put": "a put", "b:*": "b same,b only", "odd?one": "c odd one", "*look": "a look"}
	for _, entry := range w.dangers.Tools {
		if slices.Contains(strings.Split(fitting[entry.Text], ","), e.Source.PolicyName+" "+e.Item.Name) {
			return entry.Line
		}
	}
	return 0
}

func (w *world) uses(e *catalog.Entry) bool {
	globs, _ := catalog.CompileGlobs(w.active)
	byGlobs := globs.First(e.Prefix+e.Item.Name) != nil
	switch e.Item.Kind {
	case mcpwire.Prompt:
		return true
	case mcpwire.Tool:
		return !w.rejects(e) && (holds(w.enabled, e) || holds(w.equipped, e) || w.equipped == nil && byGlobs)
	}
	return byGlobs
}

// rejects reports whether a toolset in use names a tool that is not what it was.
func (w *world) rejects(e *catalog.Entry) bool {
	globs, _ := catalog.CompileGlobs(w.active)
	if e.Item.Kind != mcpwire.Tool || w.equipped == nil && globs.First(e.Prefix+e.Item.Name) != nil {
		return false
	}
	return slices.ContainsFunc([]*toolset.Set{w.enabled, w.equipped}, func(set *toolset.Set) bool {
		return set != nil && !holds(set, e) && slices.ContainsFunc(set.Tools, func(ref toolset.Ref) bool { return ref.NamespacedName == e.Name && ref.RefID != e.RefID() })
	})
}

// For every agent and item, whatever road is taken: what the policy denies or a pin holds back is
// not there and cannot be had, what is not active is in the catalog alone, and the reason is the
// same everywhere; what is active can be had.
func TestAllRoadsAgree(t *testing.T) {
	for seed := range uint64(20) {
		rules := someRules(rand.New(rand.NewPCG(seed, 0)))
		for i, agent := range []string{"", "x", "y"} {
			p, err := rules.For(agent)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(seed, uint64(i)+1))
			w, more := someWorld(t, rng, p), someSet(t, rng, "more")
			g := w.rig(t, more)
			r := &roads{t: t, g: g, w: w, what: fmt.Sprintf("seed %d, agent %q, at start", seed, agent)}
			r.all()
			r.explained()
			g.own("enable_toolset", oneSet("more"))
			w.enabled, r.what = &more, fmt.Sprintf("seed %d, agent %q, with a toolset", seed, agent)
			r.all()
			r.activated()
			if t.Failed() {
				t.Fatalf("the rules were %+v, %+v", rules, w)
			}
		}
	}
}

// named gives a server the name that policies use, and shows the client what it has.
func (g *rig) named(name string, server int) {
	u := g.r.all()[server]
	u.Server.Name, u.Source.PolicyName = name, name
	g.r.update()
	g.client.hears()
}
