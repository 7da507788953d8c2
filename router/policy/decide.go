package policy

import (
	"fmt"
	"strconv"
	"strings"
)

// A Policy is compiled Rules for one agent. A nil *Policy allows everything.
type Policy struct {
	file, agent        string
	servers            list // of the agent
	readOnly           Flag
	overrides, exposed map[string]list
	fallback           Flag
	deny               []denial
}

// For returns the policy of an agent, "" for a client without one. An agent that the rules do not
// have is an error.
func (r *Rules) For(agent string) (*Policy, error) {
	if r == nil && agent == "" {
		return nil, nil
	}
	if r == nil {
		return nil, fmt.Errorf("there are no agent_policies, and so no agent %q", agent)
	}
	p := &Policy{file: r.File, agent: agent, fallback: r.Default}
	var err error
	if p.exposed, err = compileAll(r.Exposed); err != nil || agent == "" {
		return p, err
	}
	a, ok := r.Agents[agent]
	if !ok {
		return nil, fmt.Errorf("there is no agent %q in agent_policies", agent)
	}
	p.readOnly = a.ReadOnly
	if p.servers, err = compile(a.Servers); err != nil {
		return nil, err
	}
	if p.overrides, err = compileAll(a.Overrides); err != nil {
		return nil, err
	}
	p.deny, err = compileDeny(a.Deny)
	return p, err
}

// Judge decides about all items of a server, which has this name in the rules.
func (p *Policy) Judge(server string, items []Item) []Verdict {
	all, list := p.step(server)
	var found []*Entry
	if list != nil {
		found = list.find(server, items)
	}
	verdicts := make([]Verdict, len(items))
	for i, it := range items {
		v := all
		if list != nil {
			v.entry, v.Allowed = found[i], found[i] != nil
		}
		if v.Allowed && it.Effects && p != nil && p.readOnly.On {
			v = Verdict{Step: ReadOnly, policy: p, server: server, line: p.readOnly.Line}
		}
		if v.Allowed && p != nil && len(p.deny) > 0 {
			v = p.checkDeny(v, server, it)
		}
		verdicts[i] = v
	}
	return verdicts
}

// Opens reports whether the policy can allow anything of a server.
func (p *Policy) Opens(server string) bool {
	all, list := p.step(server)
	return all.Allowed || list != nil && len(list.patterns) > 0
}

// step returns the list that decides about each item of a server. If there is none, the verdict is
// the same for all items.
func (p *Policy) step(server string) (Verdict, *list) {
	if p == nil {
		return Verdict{Allowed: true}, nil
	}
	v := Verdict{policy: p, server: server}
	if p.agent != "" && !p.servers.has(server) {
		v.Step, v.line = AllowedServers, p.servers.line
		return v, nil
	}
	if l, ok := p.overrides[server]; ok {
		v.Step, v.line = ToolOverrides, l.line
		return v, &l
	}
	if l, ok := p.exposed[server]; ok {
		v.Step, v.line = ExposedTools, l.line
		return v, &l
	}
	v.Step, v.line, v.Allowed = DefaultPolicy, p.fallback.Line, p.fallback.On
	return v, nil
}

// Idle returns the entries, with their places, that apply to no item of the server, of the list
// that decides about it. Most likely they are misspelled.
func (p *Policy) Idle(server string, items []Item) (idle []string) {
	_, list := p.step(server)
	if list == nil {
		return nil
	}
	for i := range list.patterns {
		if e := &list.patterns[i]; len(e.find(server, items)) == 0 {
			idle = append(idle, e.in(p.file))
		}
	}
	return idle
}

// A Step is a part of the rules that decides about an item.
type Step uint8

// The steps, in their order. ReadOnly and DenyRules decide about what the others allow.
const (
	NoPolicy Step = iota
	AllowedServers
	ToolOverrides
	ExposedTools
	DefaultPolicy
	ReadOnly
	DenyRules
)

// A Verdict says whether an agent may have an item, and why.
type Verdict struct {
	Allowed bool
	Step    Step

	policy *Policy
	server string
	line   int    // of the list or key
	entry  *Entry // of the list, if one allows it
	denied *denial
	when   *Conditions
}

// Conditions returns what an allowed tool cannot be called with; nil: nothing.
func (v Verdict) Conditions() *Conditions { return v.when }

// Line returns the line of the rule that decided; 0 if the file does not have it.
func (v Verdict) Line() int {
	if v.entry != nil {
		return v.entry.Line
	}
	return v.line
}

// String says which rule decided, and where it is.
func (v Verdict) String() string {
	if v.Step == NoPolicy {
		return "no policy is given: everything is allowed"
	}
	return fmt.Sprintf("%s (%s)", v.rule(), v.Place())
}

// Place returns the place of the rule, as file:line; "" if there is no policy.
func (v Verdict) Place() string {
	if v.Step == NoPolicy {
		return ""
	}
	place := v.policy.file
	if v.Line() > 0 {
		place += ":" + strconv.Itoa(v.Line())
	}
	return place
}

func (v Verdict) rule() string {
	agent := "agent_policies." + key(v.policy.agent)
	switch v.Step {
	case AllowedServers:
		return fmt.Sprintf("%s is not in %s.allowed_servers", v.serverName(), agent)
	case ToolOverrides:
		return v.listed(agent + ".tool_overrides." + key(v.server))
	case ExposedTools:
		return v.listed("exposed_tools." + key(v.server))
	case ReadOnly:
		if from := v.policy.readOnly.From; from != "" {
			agent = "agent_policies." + key(from)
		}
		return agent + ".read_only is true, and neither the tool's readOnlyHint nor read_only_tools of its server says that it only reads"
	case DenyRules:
		return v.denied.rule(v.policy)
	}
	text := fmt.Sprintf("no rule is about %s, and default_policy.allow_unknown_tools is %t", v.serverName(), v.Allowed)
	if v.line == 0 {
		text += " where the file does not give it"
	}
	return text
}

// listed is the rule for an item that is in a list, or not.
func (v Verdict) listed(name string) string {
	switch {
	case v.Allowed && v.entry.From != "":
		return fmt.Sprintf("%s has %q, inherited from %s", name, v.entry.Text, key(v.entry.From))
	case v.Allowed:
		return fmt.Sprintf("%s has %q", name, v.entry.Text)
	}
	return "it is not in " + name
}

func (v Verdict) serverName() string {
	if v.server == "" {
		return "a server without a name"
	}
	return "server " + v.server
}

// key returns a key as TOML writes it.
func key(name string) string {
	if name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == "" {
		return name
	}
	return strconv.Quote(name)
}
