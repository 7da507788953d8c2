package breakpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
)

// The actions of rules.
const (
	Hold       = "hold"
	Delay      = "delay"
	Error      = "error"
	Drop       = "drop"
	Disconnect = "disconnect"
)

// The sides that messages come from.
const (
	FromClient = "client"
	FromServer = "server"
)

// A Rule chooses messages where they come in, and says what happens to them. A message that several
// rules choose belongs to the first.
type Rule struct {
	N       int      `json:"n"`                // its number, which AddRule gives
	Filter  []string `json:"filter,omitempty"` // words as of `toolman trace`; none: every message
	From    string   `json:"from,omitempty"`   // FromClient or FromServer; "": both
	Kind    string   `json:"kind,omitempty"`   // request, response or notification; "": all
	Action  string   `json:"action"`
	MS      int      `json:"ms,omitempty"`      // of Delay: milliseconds
	Code    int64    `json:"code,omitempty"`    // of Error; 0: -32603
	Text    string   `json:"text,omitempty"`    // of Error
	Percent float64  `json:"percent,omitempty"` // how many of the messages; 0: all
	Count   int      `json:"count,omitempty"`   // after how many messages the rule ends; 0: never
	Taken   int      `json:"taken"`             // how many it has chosen
}

// A rule is a Rule that is in force.
type rule struct {
	Rule   // Taken is guarded by Debugger.mu
	client *Client
	filter filter.Filter
	words  string // of the filter, for people
}

// maxDelay is the longest delay.
const maxDelay = time.Hour

// compile checks a rule.
func compile(r Rule) (*rule, error) {
	f, err := filter.Parse(r.Filter)
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains([]string{"", FromClient, FromServer}, r.From):
		return nil, errors.New(`from is "client" or "server"`)
	case !slices.Contains([]string{"", string(trace.Request), string(trace.Response), string(trace.Notification)}, r.Kind):
		return nil, errors.New(`kind is "request", "response" or "notification"`)
	case !slices.Contains([]string{Hold, Delay, Error, Drop, Disconnect}, r.Action):
		return nil, errors.New(`action is "hold", "delay", "error", "drop" or "disconnect"`)
	case r.Action == Delay && (r.MS <= 0 || time.Duration(r.MS) > maxDelay/time.Millisecond):
		return nil, fmt.Errorf("ms is the delay in milliseconds, from 1 to %d", maxDelay/time.Millisecond)
	case r.Action == Error && r.Kind == string(trace.Notification):
		return nil, errors.New("nothing answers a notification; choose requests or responses")
	case !(r.Percent >= 0 && r.Percent <= 100):
		return nil, errors.New("percent is from 0 to 100")
	case r.Count < 0:
		return nil, errors.New("count is 1 or more")
	}
	words := strings.Join(r.Filter, " ")
	if words == "" {
		words = "every message"
	}
	return &rule{Rule: r, filter: f, words: words}, nil
}

// AddRule puts a rule into force and returns it with its number.
func (c *Client) AddRule(r Rule) (Rule, error) {
	added, err := compile(r)
	if err != nil {
		return r, err
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	switch {
	case c.gone:
		return r, errors.New("toolman is ending")
	case len(c.rules) >= maxRules:
		return r, fmt.Errorf("there are %d rules; remove one first", maxRules)
	}
	c.last++
	added.N, added.Taken, added.client = c.last, 0, c
	c.rules = append(c.rules, added)
	c.d.updateLocked()
	c.sayRulesLocked()
	return added.Rule, nil
}

// RemoveRule ends a rule. What it holds stays held.
func (c *Client) RemoveRule(n int) error {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	before := len(c.rules)
	c.rules = slices.DeleteFunc(c.rules, func(r *rule) bool { return r.N == n })
	if len(c.rules) == before {
		return fmt.Errorf("there is no rule %d", n)
	}
	c.d.updateLocked()
	c.sayRulesLocked()
	return nil
}

func (c *Client) sayRulesLocked() {
	rules := make([]Rule, 0, len(c.rules))
	for _, r := range c.rules {
		rules = append(rules, r.Rule)
	}
	c.notify(Event{Event: "rules", Rules: rules})
}

func (r *rule) spentLocked() bool { return r.Count > 0 && r.Taken >= r.Count }

// chooses reports whether a rule is about a message.
func (r *rule) chooses(m *message) bool {
	switch {
	case r.From != "" && r.From != m.from, r.Kind != "" && r.Kind != string(m.kind),
		r.Action == Error && m.kind == trace.Notification:
		return false
	}
	s := r.filter.SubjectOf(&m.record)
	s.Names = append(s.Names, m.names...)
	return r.filter.Match(s)
}

// take counts a message that the rule chooses. It returns false if the rule leaves it to chance,
// and does not take this one, or if the rule has ended.
func (d *Debugger) take(r *rule) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := r.client
	if c.gone || r.spentLocked() || !slices.Contains(c.rules, r) || r.Percent > 0 && c.random.Float64()*100 >= r.Percent {
		return false
	}
	r.Taken++
	if r.spentLocked() {
		d.updateLocked()
	}
	return true
}

// errorFrame returns the response of a rule with the action Error.
func (r *rule) errorFrame(id []byte) []byte {
	text := "toolman's debugger has made this error (rule " + r.words + ")"
	if r.Text != "" {
		text = r.Text + " (an error that toolman's debugger has made)"
	}
	code := r.Code
	if code == 0 {
		code = jsonrpc.CodeInternalError
	}
	return jsonrpc.AppendError(nil, id, code, text, nil)
}
