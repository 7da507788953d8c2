package router

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// simNames is a model of names: who has which tools, and what is active. Its rules
// are the mission's, written down a second time.
type simNames struct {
	namespaces []string
	has        [][]string // by server
	dead       []bool
	switched   map[string]bool
}

func newSimNames(rng *rand.Rand) *simNames {
	n := &simNames{namespaces: []string{"a", "b", "a", ""}, switched: map[string]bool{}}
	n.has = make([][]string, len(n.namespaces))
	n.dead = make([]bool, len(n.namespaces))
	for i := range n.has {
		n.change(rng, i)
	}
	return n
}

// change gives a server other tools. Servers 0 and 2 share a namespace, and server
// 3, which has none, meets theirs.
func (n *simNames) change(rng *rand.Rand, i int) {
	from := []string{"on1", "on2", "off1", "off2"}
	if n.namespaces[i] == "" {
		from = []string{"a_on1", "b_off1", "c_on"}
	}
	n.has[i] = nil
	for _, k := range rng.Perm(len(from)) {
		if rng.IntN(4) > 0 {
			n.has[i] = append(n.has[i], from[k])
		}
	}
}

func (n *simNames) full(i int, tool string) string {
	if n.namespaces[i] == "" {
		return tool
	}
	return n.namespaces[i] + "_" + tool
}

// any is a name that somebody may have.
func (n *simNames) any(rng *rand.Rand) string {
	return pick(rng, "a_on1", "a_on2", "a_off1", "a_off2", "b_on1", "b_on2", "b_off1", "b_off2", "c_on", "on3")
}

// find says who has a name, if that is not dead, and whether it may be called.
func (n *simNames) find(name string) (owner int, bare string, active bool) {
	for i, tools := range n.has {
		for _, tool := range tools {
			if n.full(i, tool) == name {
				if n.dead[i] {
					return -1, "", false
				}
				return i, tool, n.isActive(name)
			}
		}
	}
	return -1, "", false
}

func (n *simNames) isActive(name string) bool {
	if on, ok := n.switched[name]; ok {
		return on
	}
	return strings.Contains(name, "on")
}

// active are the names in a list of tools, in its order.
func (n *simNames) active() (names []string) {
	for i, tools := range n.has {
		for _, tool := range tools {
			name := n.full(i, tool)
			if owner, _, active := n.find(name); owner == i && active && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (n *simNames) switchTo(a activation) {
	n.switched = maps.Clone(n.switched)
	for _, name := range a.toolsOn {
		n.switched[name] = true
	}
	for _, name := range a.toolsOff {
		n.switched[name] = false
	}
}
