package compare

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"toolman/cmd/internal/traces/recording"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
	"toolman/mcpwire"
)

// DefaultThreshold is the difference from which on a call counts as slower or faster.
const DefaultThreshold = 100 * time.Millisecond

// Options choose what Sessions compares.
type Options struct {
	Rules     *Rules
	Filter    filter.Filter // selects calls in both sessions
	Threshold time.Duration // of slower and faster; 0: DefaultThreshold
}

// Sessions compares two sessions.
func Sessions(a, b *recording.Session, o Options) *Result {
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if !o.Rules.strict && isModern(a) != isModern(b) {
		o.Rules = o.Rules.withEras()
	}
	p := align(a.Select(&o.Filter), b.Select(&o.Filter))
	r := &Result{A: sideOf(a, len(p.a)), B: sideOf(b, len(p.b)), Pairs: []*Pair{}}
	order := p.order()
	for _, pair := range p.list() {
		r.add(pair, p, order, &o)
	}
	r.Notifications = notifications(a, b)
	r.Ignored = o.Rules.Ignored()
	r.Equal = r.Changed+r.Removed+r.Added+r.Moved == 0
	return r
}

// isModern reports whether a session is of the revision 2026-07-28, in which each request of the
// client says so.
func isModern(s *recording.Session) bool {
	return slices.ContainsFunc(s.Calls, func(c *recording.Call) bool {
		return recording.MetaOf(c.Request.Params)[mcpwire.KeyVersion] != nil
	})
}

// list returns all pairs of indexes in the order of b; -1 stands for a side without the call. Calls
// that only a has stand before the next call of a that has a partner in order.
func (p *pairing) list() [][2]int {
	var all [][2]int
	next := 0 // of a
	onlyA := func(to int) {
		for ; next < to; next++ {
			if p.ofA[next] < 0 {
				all = append(all, [2]int{next, -1})
			}
		}
	}
	for j, i := range p.ofB {
		if i >= 0 && p.inOrder[i] {
			onlyA(i)
		}
		all = append(all, [2]int{i, j})
	}
	onlyA(len(p.a))
	return all
}

func (r *Result) add(at [2]int, p *pairing, order *order, o *Options) {
	pair := new(Pair)
	r.Pairs = append(r.Pairs, pair)
	var a, b *recording.Call
	if at[0] >= 0 {
		a = p.a[at[0]]
		pair.describe(a)
		pair.A = callOf(a)
	}
	if at[1] >= 0 {
		b = p.b[at[1]]
		pair.describe(b)
		pair.B = callOf(b)
	}
	switch {
	case b == nil:
		pair.State = Removed
		r.Removed++
		return
	case a == nil:
		pair.State = Added
		r.Added++
		return
	}
	pair.Request = o.Rules.Values("params", orEmpty(a.Request.Params), orEmpty(b.Request.Params))
	pair.Response = o.Rules.calls(a, b)
	pair.Slower, pair.Faster = slower(pair.A, pair.B, o.Threshold), slower(pair.B, pair.A, o.Threshold)
	if pair.Moved = !p.inOrder[at[0]] && order.moved(a, b); pair.Moved {
		r.Moved++
	}
	if pair.State = Same; len(pair.Request)+len(pair.Response) > 0 {
		pair.State = Changed
		r.Changed++
	} else {
		r.Same++
	}
}

// orEmpty returns params, which may be left out if they are empty.
func orEmpty(params json.RawMessage) json.RawMessage {
	if params == nil {
		return json.RawMessage("{}")
	}
	return params
}

func (pair *Pair) describe(c *recording.Call) {
	pair.Method, pair.Name, pair.By = c.Request.Method, c.Request.Name, "server"
	if c.FromClient() {
		pair.By = "client"
	}
}

// calls compares the outcomes of two calls.
func (r *Rules) calls(a, b *recording.Call) []Difference {
	var x, y recording.Message
	if a.Response != nil {
		x = *a.Response
	}
	if b.Response != nil {
		y = *b.Response
	}
	if a.Response == nil || b.Response == nil || x.Trunc || y.Trunc {
		return r.outcomes(a, b)
	}
	return r.Responses(x.Result, x.Error, y.Result, y.Error)
}

// outcomes compares the status of two calls of which one has no response, or not the whole one.
func (r *Rules) outcomes(a, b *recording.Call) []Difference {
	x, y := a.Status(), b.Status()
	if a.Response != nil && b.Response != nil { // truncated
		x, y = a.Response.Status, b.Response.Status
	}
	if x == y || r.ignore(path{{key: "status"}}, x, y) {
		return nil
	}
	return []Difference{{Path: "status", A: []byte(`"` + x + `"`), B: []byte(`"` + y + `"`)}}
}

// slower reports whether b took longer than a by more than the threshold, and at least twice as
// long.
func slower(a, b *Call, threshold time.Duration) bool {
	return a.TotalUS > 0 && b.TotalUS-a.TotalUS >= threshold.Microseconds() && b.TotalUS >= 2*a.TotalUS
}

// notifications counts the notifications of both sessions by method, and returns the counts that
// differ.
func notifications(a, b *recording.Session) []Count {
	counts := make(map[string]*Count)
	count := func(s *recording.Session, add func(*Count)) {
		for _, m := range s.Messages {
			if m.Kind != trace.Notification {
				continue
			}
			if counts[m.Method] == nil {
				counts[m.Method] = &Count{Method: m.Method}
			}
			add(counts[m.Method])
		}
	}
	count(a, func(c *Count) { c.A++ })
	count(b, func(c *Count) { c.B++ })
	var differ []Count
	for _, method := range slices.Sorted(maps.Keys(counts)) {
		if c := counts[method]; c.A != c.B {
			differ = append(differ, *c)
		}
	}
	return differ
}
