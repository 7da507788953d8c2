package policy

import (
	"maps"
	"regexp"
	"slices"
)

// Rules are the policies of a configuration file. A nil *Rules allows everything.
type Rules struct {
	File    string           // for messages
	Exposed map[string]List  // exposed_tools, by server
	Agents  map[string]Agent // agent_policies
	Default Flag             // default_policy.allow_unknown_tools
}

// An Agent is one of agent_policies.
type Agent struct {
	Inherits  []Entry         // inherits: names of other agents; see Inherit
	Servers   List            // allowed_servers
	ReadOnly  Flag            // read_only
	Overrides map[string]List // tool_overrides, by server
	Deny      []DenyRule      // deny
}

// A List holds names and globs.
type List struct {
	Line    int // of its key
	Entries []Entry
}

// An Entry is one name or glob of a list.
type Entry struct {
	Text string
	Line int
	From string // the agent that it is inherited from; "": none
}

// A Flag is a boolean of the file. Its line is 0 if the file does not set it.
type Flag struct {
	On   bool
	Line int
	From string // as in Entry
}

// A TaskRule extends the lists of an agent for some services and tasks.
type TaskRule struct {
	Line     int
	Services []Entry  // names and globs; none: any service
	Keywords []string // in the text of a task; none: any task
	Tools    map[string]List
}

// Matches reports whether the rule applies to a task: its service is one of the rule's, and one of
// the keywords is the beginning of a word in its text. Upper and lower case are the same.
func (t *TaskRule) Matches(service, text string) bool {
	return (len(t.Services) == 0 || slices.ContainsFunc(t.Services, func(e Entry) bool { return e.Matches(service) })) &&
		(len(t.Keywords) == 0 || slices.ContainsFunc(t.Keywords, func(word string) bool { return mentions(text, word) }))
}

// mentions reports whether a word of the text begins with keyword.
func mentions(text, keyword string) bool {
	found, _ := regexp.MatchString(`(?i)(^|[^\pL\p{Nd}])`+regexp.QuoteMeta(keyword), text)
	return found && keyword != ""
}

// With returns the rules for an agent, "" for a client without one, with the additions of these
// task rules. With an agent, the result does not have the policies of other agents.
func (r *Rules) With(agent string, tasks []TaskRule) *Rules {
	if r == nil {
		return nil
	}
	next := &Rules{File: r.File, Exposed: copyOf(r.Exposed), Agents: maps.Clone(r.Agents), Default: r.Default}
	if a, ok := r.Agents[agent]; ok {
		a.Overrides = copyOf(a.Overrides)
		next.Agents = map[string]Agent{agent: a}
	}
	for _, t := range tasks {
		for server, tools := range t.Tools {
			next.add(agent, server, tools)
		}
	}
	return next
}

// copyOf returns a copy of lists, never nil.
func copyOf(lists map[string]List) map[string]List {
	next := map[string]List{}
	maps.Copy(next, lists)
	return next
}

// add adds tools to the list that decides about a server. If there is none and default_policy
// allows nothing, it makes one. It does not open a server that is closed to the agent.
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

// with returns the list with the entries of another list added, except those that it has already.
func (l List) with(more List) List {
	next := List{l.Line, slices.Clone(l.Entries)}
	for _, e := range more.Entries {
		if !slices.ContainsFunc(next.Entries, func(have Entry) bool { return have.Text == e.Text }) {
			next.Entries = append(next.Entries, e)
		}
	}
	return next
}
