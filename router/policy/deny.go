package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gobwas/glob"
)

// A DenyRule is one of deny. It denies items or, with conditions, calls of tools with certain
// arguments.
type DenyRule struct {
	Tool  Entry // name or glob, of items of any kind if there are no conditions
	Where []Condition
	Line  int
	From  string // as in Entry
}

// A Condition is one key of where. It holds for a call if a value of the argument matches one of
// Values.
type Condition struct {
	Argument string // name, or names with dots between
	Values   []any  // string (a glob), float64 or bool
}

// String returns the rule as toolman shows it.
func (d *DenyRule) String() string {
	text := strconv.Quote(d.Tool.Text)
	for i, c := range d.Where {
		text += map[bool]string{true: " where ", false: " and "}[i == 0] + c.String()
	}
	return text
}

// String returns the condition as toolman shows it.
func (c *Condition) String() string {
	var values []string
	for _, v := range c.Values {
		text := fmt.Sprint(v)
		switch v := v.(type) {
		case string:
			text = strconv.Quote(v)
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		}
		values = append(values, text)
	}
	if len(values) == 1 {
		return key(c.Argument) + " = " + values[0]
	}
	return key(c.Argument) + " = [" + strings.Join(values, ", ") + "]"
}

// A denial is a compiled DenyRule.
type denial struct {
	*DenyRule
	tool  pattern
	where []condition
}

func compileDeny(rules []DenyRule) ([]denial, error) {
	var all []denial
	for i := range rules {
		d := &rules[i]
		g, err := glob.Compile(d.Tool.Text)
		if err != nil {
			return nil, fmt.Errorf("line %d: the pattern %q: %w", d.Line, d.Tool.Text, err)
		}
		next := denial{DenyRule: d, tool: pattern{d.Tool, g}}
		for _, c := range d.Where {
			compiled, err := compileCondition(c)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", d.Line, err)
			}
			next.where = append(next.where, compiled)
		}
		all = append(all, next)
	}
	return all, nil
}

// rule says what the rule is, for messages.
func (d *denial) rule(p *Policy) string {
	agent := p.agent
	if d.From != "" {
		agent = d.From
	}
	return "agent_policies." + key(agent) + ".deny has " + d.String()
}

// checkDeny returns the verdict about an item that the other rules allow. A rule applies if it
// matches any name that a caller may use: it is better to deny once too often.
func (p *Policy) checkDeny(v Verdict, server string, it Item) Verdict {
	var when []*denial
	for i := range p.deny {
		d := &p.deny[i]
		switch {
		case !d.tool.matchAny(server, it):
		case len(d.where) == 0:
			return Verdict{Step: DenyRules, policy: p, server: server, line: d.Line, denied: d}
		default:
			when = append(when, d)
		}
	}
	if when != nil {
		v.when = &Conditions{p, when}
	}
	return v
}

// Denials returns the rules of deny, and which of the items they match. The items are given by
// server.
func (p *Policy) Denials(items map[string][]Item) (rules []DenyUse) {
	if p == nil {
		return nil
	}
	for i := range p.deny {
		d := &p.deny[i]
		use := DenyUse{Rule: fmt.Sprintf("%s (%s:%d)", d.rule(p), p.file, d.Line), Where: d.Where, Matches: map[string][]int{}}
		for server, all := range items {
			for i, it := range all {
				if d.tool.matchAny(server, it) {
					use.Matches[server] = append(use.Matches[server], i)
				}
			}
		}
		rules = append(rules, use)
	}
	return rules
}

// A DenyUse says which items a rule of deny matches.
type DenyUse struct {
	Rule    string // with its place
	Where   []Condition
	Matches map[string][]int // indices of items, by server
}

// Conditions are the rules of deny that apply to the arguments of a tool. A nil *Conditions forbids
// nothing.
type Conditions struct {
	policy *Policy
	rules  []*denial
}

// Forbids returns the rule that forbids a call with these arguments, with its place; "" if none
// does. The arguments are valid JSON, or empty.
func (c *Conditions) Forbids(arguments []byte) (rule string) {
	if c == nil || len(arguments) == 0 {
		return ""
	}
	for _, d := range c.rules {
		if holds(d.where, arguments) {
			return c.text(d)
		}
	}
	return ""
}

// String says which rules there are, with their places; "" if there are none.
func (c *Conditions) String() string {
	if c == nil {
		return ""
	}
	var all []string
	for _, d := range c.rules {
		all = append(all, c.text(d))
	}
	return strings.Join(all, "; ")
}

func (c *Conditions) text(d *denial) string {
	return fmt.Sprintf("%s (%s:%d)", d.rule(c.policy), c.policy.file, d.Line)
}
