package policy

import "fmt"

// A Policy is what the rules say for one agent. A nil *Policy allows everything.
type Policy struct {
	file, agent        string
	servers            list // of the agent
	readOnly           Flag
	overrides, exposed map[string]list
	fallback           Flag
}

// For returns what the rules say for an agent, "" for a client that is none. An
// agent that the rules do not have is an error.
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
	p.overrides, err = compileAll(a.Overrides)
	return p, err
}

// Judge decides about all items of a server, known to the rules by this name.
func (p *Policy) Judge(server string, items []Item) []Verdict {
	all, list := p.step(server)
	verdicts := make([]Verdict, len(items))
	for i := range verdicts {
		verdicts[i] = all
	}
	if list != nil {
		for i, e := range list.find(server, items) {
			verdicts[i].Allowed, verdicts[i].entry = e != nil, e
		}
	}
	for i := range verdicts {
		if v := &verdicts[i]; v.Allowed && items[i].Effects && p != nil && p.readOnly.On {
			*v = Verdict{Step: ReadOnly, policy: p, server: server, line: p.readOnly.Line}
		}
	}
	return verdicts
}

// Opens reports whether the policy can allow anything of a server.
func (p *Policy) Opens(server string) bool {
	all, list := p.step(server)
	return all.Allowed || list != nil && len(list.patterns) > 0
}

// step finds the step that applies to a server, and the list that then decides
// about each item; if there is none, the verdict is the same for all.
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

// Idle returns the entries of the list that decides about a server that none of its
// items fits, with their places. Most likely they are misspelled.
func (p *Policy) Idle(server string, items []Item) []string {
	_, list := p.step(server)
	if list == nil {
		return nil
	}
	var idle []string
	for i := range list.patterns {
		if e := &list.patterns[i]; len(e.of(server, items)) == 0 {
			idle = append(idle, fmt.Sprintf("%q (%s:%d)", e.Text, p.file, e.Line))
		}
	}
	return idle
}
