package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxBases bounds how deep policies inherit from each other.
const maxBases = 16

// An InheritProblem says what is wrong with a name in inherits.
type InheritProblem struct {
	Line       int // of the name
	What, Hint string
}

// Inherit returns the agents with what they inherit. An agent has what its bases have, and what it
// adds: servers, entries of lists, and rules of deny. Those of the bases come first. read_only is
// the agent's own if it has the key, and otherwise true if it is true for one base. Names that
// agents does not have are ignored.
func Inherit(agents map[string]Agent) (map[string]Agent, []InheritProblem) {
	x := inheritance{agents: agents, done: map[string]Agent{}, depth: map[string]int{}}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		x.resolve(name, nil)
	}
	return x.done, x.problems
}

// An inheritance is the state of Inherit.
type inheritance struct {
	agents   map[string]Agent
	done     map[string]Agent
	depth    map[string]int // levels of bases, by agent
	problems []InheritProblem
}

// resolve fills in done and depth for an agent. path are the agents that inherit from it.
func (x *inheritance) resolve(name string, path []string) {
	if _, ok := x.done[name]; ok {
		return
	}
	own := x.agents[name]
	path = append(path, name)
	next := Agent{Inherits: own.Inherits, Overrides: map[string]List{}}
	for _, e := range own.Inherits {
		if _, known := x.agents[e.Text]; !known {
			continue
		}
		if at := slices.Index(path, e.Text); at >= 0 {
			x.fail(e, "take one of the names out", "agent_policies.%s inherits from itself: %s", key(e.Text), strings.Join(append(path[at:], e.Text), " inherits "))
			continue
		}
		x.resolve(e.Text, path)
		x.depth[name] = max(x.depth[name], x.depth[e.Text]+1)
		next.inherit(x.done[e.Text], e.Text)
	}
	if x.depth[name] == maxBases+1 { // those that inherit from it have more levels, and the same cause
		x.fail(own.Inherits[0], "inherit from fewer policies", "agent_policies.%s inherits through more than %d policies", key(name), maxBases)
	}
	readOnly := next.ReadOnly
	next.inherit(own, "")
	if next.ReadOnly = own.ReadOnly; own.ReadOnly.Line == 0 {
		next.ReadOnly = readOnly
	}
	x.done[name] = next
}

func (x *inheritance) fail(at Entry, hint, format string, args ...any) {
	x.problems = append(x.problems, InheritProblem{at.Line, fmt.Sprintf(format, args...), hint})
}

// inherit adds what a base has. from is the base's name, or "" for what is the agent's own.
func (a *Agent) inherit(base Agent, from string) {
	a.Servers = a.Servers.with(base.Servers.from(from))
	a.Servers.Line = cmp.Or(base.Servers.Line, a.Servers.Line)
	for server, l := range base.Overrides {
		next := a.Overrides[server].with(l.from(from))
		next.Line = l.Line
		a.Overrides[server] = next
	}
	for _, d := range base.Deny {
		d.From = cmp.Or(d.From, from)
		if !slices.ContainsFunc(a.Deny, func(have DenyRule) bool { return have.Line == d.Line && have.String() == d.String() }) {
			a.Deny = append(a.Deny, d)
		}
	}
	if base.ReadOnly.On {
		a.ReadOnly = base.ReadOnly
		a.ReadOnly.From = cmp.Or(a.ReadOnly.From, from)
	}
}

// from returns the list with entries that say which agent they are of.
func (l List) from(agent string) List {
	next := List{l.Line, slices.Clone(l.Entries)}
	for i := range next.Entries {
		next.Entries[i].From = cmp.Or(next.Entries[i].From, agent)
	}
	return next
}
