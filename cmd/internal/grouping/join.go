package grouping

import (
	"cmp"
	"slices"
)

// A matrix has how many sessions use each tool, and each two tools.
type matrix struct {
	names  []string
	used   []int
	shared [][]int
}

// matrix counts the sessions of the tools that keep accepts.
func (u *Usage) matrix(keep func(string) bool) *matrix {
	used := map[string]int{}
	for _, tools := range u.sessions {
		for name := range tools {
			used[name]++
		}
	}
	m := &matrix{}
	for name, n := range used {
		if n >= leastShared && keep(name) {
			m.names = append(m.names, name)
		}
	}
	slices.SortFunc(m.names, func(a, b string) int { return cmp.Or(used[b]-used[a], cmp.Compare(a, b)) })
	m.names = m.names[:min(len(m.names), maxTools)]
	index := map[string]int{}
	for i, name := range m.names {
		index[name] = i
		m.used = append(m.used, used[name])
		m.shared = append(m.shared, make([]int, len(m.names)))
	}
	for _, tools := range u.sessions {
		var of []int
		for name := range tools {
			if i, counts := index[name]; counts {
				of = append(of, i)
			}
		}
		for _, a := range of {
			for _, b := range of {
				m.shared[a][b]++
			}
		}
	}
	return m
}

// alike returns the part of the sessions with either tool that use both.
func (m *matrix) alike(a, b int) float64 {
	both := m.shared[a][b]
	if both < leastShared {
		return 0
	}
	return float64(both) / float64(m.used[a]+m.used[b]-both)
}

// join returns the groups of two or more tools.
func (m *matrix) join() [][]int {
	type pair struct {
		a, b  int
		alike float64
	}
	var pairs []*pair
	group := make([][]int, len(m.names)) // of each tool; tools of one group have the same slice
	for a := range m.names {
		group[a] = []int{a}
		for b := range a {
			if alike := m.alike(a, b); alike >= leastAlike {
				pairs = append(pairs, &pair{b, a, alike})
			}
		}
	}
	slices.SortFunc(pairs, func(x, y *pair) int {
		return cmp.Or(cmp.Compare(y.alike, x.alike), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	for _, p := range pairs {
		one, other := group[p.a], group[p.b]
		if one[0] == other[0] || len(one)+len(other) > maxGroup || m.average(one, other) < leastAlike {
			continue
		}
		joined := slices.Concat(one, other)
		for _, i := range joined {
			group[i] = joined
		}
	}
	var groups [][]int
	for i, members := range group {
		if len(members) > 1 && members[0] == i {
			groups = append(groups, members)
		}
	}
	return groups
}

// average returns how alike the tools of two groups are on average.
func (m *matrix) average(one, other []int) float64 {
	sum := 0.0
	for _, a := range one {
		for _, b := range other {
			sum += m.alike(a, b)
		}
	}
	return sum / float64(len(one)*len(other))
}
