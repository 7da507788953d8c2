package policy

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A TaskRule adds to what an agent may have, for some services and tasks.
type TaskRule struct {
	Line     int
	Services []Entry  // names and globs; none: any service
	Keywords []string // that a task's text may hold; none: any task
	Tools    map[string]List
}

// Matches reports whether the rule is for a task: its service is one of the
// rule's, and one of the keywords begins a word of its text, in upper or lower case.
func (t *TaskRule) Matches(service, text string) bool {
	return (len(t.Services) == 0 || slices.ContainsFunc(t.Services, func(e Entry) bool { return e.Matches(service) })) &&
		(len(t.Keywords) == 0 || slices.ContainsFunc(t.Keywords, func(word string) bool { return mentions(text, word) }))
}

// mentions reports whether a word of the text begins with keyword.
func mentions(text, keyword string) bool {
	text, keyword = strings.ToLower(text), strings.ToLower(keyword)
	for at := 0; keyword != ""; {
		i := strings.Index(text[at:], keyword)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
		at += len(keyword)
	}
	return false
}

// With returns the rules as they are for an agent ("" for a client that is none)
// once these task rules have added to them. With an agent, the other agents and
// their policies are left out.
func (r *Rules) With(agent string, tasks []TaskRule) *Rules {
	if r == nil {
		return nil
	}
	next := &Rules{File: r.File, Exposed: maps.Clone(r.Exposed), Agents: maps.Clone(r.Agents), Default: r.Default}
	if next.Exposed == nil {
		next.Exposed = map[string]List{}
	}
	if a, ok := r.Agents[agent]; ok {
		a.Overrides = maps.Clone(a.Overrides)
		if a.Overrides == nil {
			a.Overrides = map[string]List{}
		}
		next.Agents = map[string]Agent{agent: a}
	}
	for _, t := range tasks {
		for server, tools := range t.Tools {
			next.add(agent, server, tools)
		}
	}
	return next
}

// add adds to the list that decides about a server, and makes one where nothing
// is allowed without. A server that is closed to the agent stays so.
func (r *Rules) add(agent, server string, tools List) {
	lists := r.Exposed
	from, listed := r.Exposed[server]
	if a, ok := r.Agents[agent]; ok {
		if !slices.ContainsFunc(a.Servers.Entries, func(e Entry) bool { return e.Matches(server) }) {
			return
		}
		lists = a.Overrides
		if own, ok := a.Overrides[server]; ok {
			from, listed = own, true
		}
	}
	switch {
	case listed:
		lists[server] = from.with(tools)
	case !r.Default.On:
		lists[server] = List{Line: tools.Line}.with(tools)
	}
}

// with returns the list with the other's entries that it does not have.
func (l List) with(more List) List {
	next := List{l.Line, slices.Clone(l.Entries)}
	for _, e := range more.Entries {
		if !slices.ContainsFunc(next.Entries, func(have Entry) bool { return have.Text == e.Text }) {
			next.Entries = append(next.Entries, e)
		}
	}
	return next
}
