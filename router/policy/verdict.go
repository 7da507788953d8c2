package policy

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// A Step is what decided about an item.
type Step uint8

// The steps, in the order in which they are asked. ReadOnly is asked of what the
// others allow.
const (
	NoPolicy Step = iota
	AllowedServers
	ToolOverrides
	ExposedTools
	DefaultPolicy
	ReadOnly
)

// A Verdict says whether an agent may have an item, and why.
type Verdict struct {
	Allowed bool
	Step    Step

	policy *Policy
	server string
	line   int    // of the list or key
	entry  *Entry // of the list, if one allows it
}

// Line is where the rule stands that decided, 0 if the file does not have it.
func (v Verdict) Line() int {
	if v.entry != nil {
		return v.entry.Line
	}
	return v.line
}

// String says which rule decided, and where it stands.
func (v Verdict) String() string {
	if v.Step == NoPolicy {
		return "no policy is given: everything is allowed"
	}
	return fmt.Sprintf("%s (%s)", v.rule(), v.Place())
}

// Place is where the rule stands, without a word about what it says; "" if there is no policy.
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
		return agent + ".read_only is true, and the tool does not say readOnlyHint: true"
	}
	if v.line == 0 {
		return fmt.Sprintf("no rule is about %s, and default_policy.allow_unknown_tools is %t where the file does not give it", v.serverName(), v.Allowed)
	}
	return fmt.Sprintf("no rule is about %s, and default_policy.allow_unknown_tools is %t", v.serverName(), v.Allowed)
}

// listed is about a list that has the item, or has not.
func (v Verdict) listed(name string) string {
	if v.Allowed {
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

var bareKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// key is a key as TOML writes it.
func key(name string) string {
	if bareKey().MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}
