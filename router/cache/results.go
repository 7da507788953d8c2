package cache

import (
	"bytes"
	"strconv"
	"time"

	"github.com/gobwas/glob"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// A Rule says how long the results of tools are kept.
type Rule struct {
	Tools *glob.Pattern // matches the server's names of the tools
	For   time.Duration
}

// NewRule returns the rule for a pattern of tools. There are no separators: * matches any
// characters.
func NewRule(tools string, keep time.Duration) (Rule, error) {
	g, err := glob.Compile(tools)
	return Rule{g, keep}, err
}

// Results are the results of one connection to a server. Nil Results keep nothing.
type Results struct {
	store      *Store
	connection uint64
	rules      []Rule
	epoch      *epoch
}

// Of returns the Results of a new connection to a server, nil without rules.
func (s *Store) Of(server string, rules []Rule) *Results {
	if s == nil || len(rules) == 0 {
		return nil
	}
	return &Results{store: s, connection: s.connections.Add(1), rules: rules, epoch: s.epochOf(server)}
}

// Drop makes all results of the server invalid, also those of its other connections.
func (r *Results) Drop() {
	if r != nil {
		r.epoch.Add(1)
	}
}

// ttl returns how long results of a tool are kept: the shortest of the rules that match; 0: none
// does.
func (r *Results) ttl(tool string) (shortest time.Duration) {
	for _, rule := range r.rules {
		if rule.Tools.Match(tool) && (shortest == 0 || rule.For < shortest) {
			shortest = rule.For
		}
	}
	return shortest
}

// A Request is a request of a client that its server may have answered before.
type Request struct {
	Message  *jsonrpc.Message
	Method   mcpwire.Method
	Tool     string // the server's name of the tool
	ReadOnly bool   // the tool changes nothing
	Task     bool   // the client wants a task instead of the result
	Who      string // whose request it is
}

// A Call is a request that is being answered. A nil *Call does nothing.
type Call struct {
	results *Results
	changes bool // the server may answer differently afterwards
	key     key
	epoch   uint64
	ttl     time.Duration // 0: the result is not kept
}

// Begin begins a call. It returns the frame of an earlier answer, which must not be modified, or
// nil if the server must be asked. The Call is nil if its answer does not matter.
func (r *Results) Begin(q Request) (*Call, []byte) {
	switch {
	case q.Method == mcpwire.ToolsCall && !q.ReadOnly, isTask(q.Method):
		r.Drop()
		return &Call{results: r, changes: true}, nil
	case q.Method != mcpwire.ToolsCall || q.Task:
		return nil, nil
	}
	c := &Call{results: r, ttl: r.ttl(q.Tool), epoch: r.epoch.Load()}
	if c.ttl == 0 || !c.key.make(r, c.epoch, &q) {
		return nil, nil
	}
	return c, r.store.get(c.key)
}

// isTask reports whether a request is about a task, which may have changed something by now.
func isTask(method mcpwire.Method) bool {
	return method == mcpwire.TasksGet || method == mcpwire.TasksResult || method == mcpwire.TasksCancel
}

// Answered takes the server's answer to the call. Only the first answer counts: a later one follows
// input of the user.
func (c *Call) Answered(m *jsonrpc.Message) {
	switch {
	case c == nil:
	case c.changes:
		c.results.Drop()
	case c.ttl > 0:
		if ttl := min(c.ttl, lifetime(m)); ttl > 0 && len(m.Frame) <= MaxResult && c.results.epoch.Load() == c.epoch {
			c.results.store.put(c.key, bytes.Clone(m.Frame), ttl)
		}
		c.ttl = 0
	}
}

// Lost says that the call has no answer. The server may go on with it.
func (c *Call) Lost() {
	if c != nil && c.changes {
		c.results.Drop()
	}
}

// unlimited is the lifetime of a result whose server says nothing about it.
const unlimited = time.Duration(1<<63 - 1)

// lifetime returns how long a result may be kept at most: its ttlMs (2026-07-28, Caching). It is 0
// for all that is not the complete result of a tool that has succeeded.
func lifetime(m *jsonrpc.Message) time.Duration {
	if m.Err.Present() || m.BothResultAndError {
		return 0
	}
	r, err := mcpwire.ResultOf(m)
	if err != nil || r.ResultType(m) != mcpwire.ResultComplete {
		return 0
	}
	if failed, err := m.Get(m.Result, "isError"); err != nil || failed.Present() && string(m.Bytes(failed)) != "false" {
		return 0
	}
	if !r.TTL.Present() {
		return unlimited
	}
	ms, err := strconv.ParseInt(string(m.Bytes(r.TTL.Value)), 10, 64)
	if err != nil || ms > int64(unlimited/time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
