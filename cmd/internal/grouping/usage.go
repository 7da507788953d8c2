package grouping

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"toolman/router/audit"
)

// Limits.
const (
	maxSessions = 20_000
	maxPerOne   = 64   // different tools of a session
	maxNames    = 5000 // different tools whose calls are counted
	maxTools    = 500  // tools that are grouped, those that the most sessions use
	maxGroup    = 20   // tools in a group
	maxGroups   = 20
	leastShared = 2   // sessions that use both of two tools
	leastAlike  = 0.5 // of the sessions that use either
)

// Usage counts how tools are used.
type Usage struct {
	Calls    int
	Ignored  int // calls in sessions, or of tools, that exceed the limits
	calls    map[string]int
	sessions map[string]map[string]bool // the tools of each session
}

// New returns an empty Usage.
func New() *Usage {
	return &Usage{calls: map[string]int{}, sessions: map[string]map[string]bool{}}
}

// Add counts a line if it is a call that was not refused, of a server's tool.
func (u *Usage) Add(l *audit.Line) {
	if l.Kind != "tool" || l.Method != "tools/call" || l.Server == "" || l.Server == "toolman" || l.Outcome == audit.Refused {
		return
	}
	u.Calls++
	if _, known := u.calls[l.Name]; !known && len(u.calls) == maxNames {
		u.Ignored++
		return
	}
	name := l.Name
	u.calls[name]++
	key := sessionKey(l)
	tools := u.sessions[key]
	switch {
	case tools == nil && len(u.sessions) == maxSessions, len(tools) == maxPerOne && !tools[name]:
		u.Ignored++
		return
	case tools == nil:
		tools = map[string]bool{}
		u.sessions[key] = tools
	}
	tools[name] = true
}

func sessionKey(l *audit.Line) string {
	if l.Session != "" {
		return l.Agent + "\n" + l.Session
	}
	return l.Agent + "\n" + l.Client + "\n" + l.Time.UTC().Truncate(time.Hour).Format(time.RFC3339)
}

// Sessions returns the number of sessions with calls.
func (u *Usage) Sessions() int { return len(u.sessions) }

// CallsOf returns the number of calls of a tool.
func (u *Usage) CallsOf(name string) int { return u.calls[name] }

// Names returns the tools that were called, sorted.
func (u *Usage) Names() []string { return slices.Sorted(maps.Keys(u.calls)) }

// A Group is a group of tools that are used together.
type Group struct {
	Tools    []string // sorted
	Sessions int      // that use at least two of them
}

// Groups returns groups of the tools that keep accepts, those of the most sessions first.
func (u *Usage) Groups(keep func(name string) bool) []*Group {
	m := u.matrix(keep)
	var groups []*Group
	for _, members := range m.join() {
		g := &Group{}
		for _, i := range members {
			g.Tools = append(g.Tools, m.names[i])
		}
		slices.Sort(g.Tools)
		for _, tools := range u.sessions {
			used := 0
			for _, name := range g.Tools {
				if tools[name] {
					used++
				}
			}
			if used > 1 {
				g.Sessions++
			}
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *Group) int { return cmp.Or(b.Sessions-a.Sessions, slices.Compare(a.Tools, b.Tools)) })
	return groups[:min(len(groups), maxGroups)]
}
