package traceview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"toolman/jsonrpc/trace"
)

const (
	statusPending = "pending"
	statusGone    = "gone" // the server that was asked is
	cancelled     = "notifications/cancelled"
)

// A call is a request and what became of it, on both legs. Times are in microseconds.
type call struct {
	first  *trace.Record // the request as it was first seen
	other  string        // the peer on the other leg, if it went there
	target string        // the name there

	status        string
	code          int
	verdict, rule string
	problem       string // what an answer that is an error says

	total, own, there int64 // there: what the peer on the other leg took
	in, out           int   // bytes into and out of toolman on the first leg

	answered bool // by the response that ends it
	reported bool // it has been printed

	frames []*trace.Record // all of it, if they are kept
	texts  []bool          // which of the filter's texts were seen in it
}

// byToolman says that toolman itself made the request.
func (c *call) byToolman() bool { return c.first.Dir == trace.Out }

// failed reports whether the call did not do what it should.
func (c *call) failed() bool {
	return isFailure(c.status) || c.status == statusGone || c.status == trace.StatusLocal && c.problem != ""
}

func isFailure(status string) bool {
	return status == trace.StatusRPCError || status == trace.StatusToolError || status == trace.StatusTimeout
}

// calls pairs frames.
type calls struct {
	open   map[string]*call
	keep   bool // the frames
	filter Filter
}

// add takes a frame. It returns the call that the frame belongs to and whether it is over with it; nil if the frame is not part of one.
func (cs *calls) add(r *trace.Record) (c *call, over bool) {
	key := keyOf(r)
	c = cs.open[key]
	if c != nil && c.aside(r) {
		cs.note(c, r)
		return c, false
	}
	switch r.Kind {
	case trace.Request:
		c = cs.request(key, c, r)
	case trace.Response:
		if c == nil || c.reported && r.Leg != c.first.Leg { // late
			return nil, false
		}
		if over = c.respond(r); over {
			delete(cs.open, key)
		}
	case trace.Notification:
		if c == nil || r.Call == "" {
			return nil, false
		}
		if r.Method == cancelled && !c.reported {
			c.cancel(r)
			over = true
		}
	default:
		return nil, false
	}
	cs.note(c, r)
	return c, over
}

// keyOf tells calls apart: by their number, or by who has asked and the id.
func keyOf(r *trace.Record) string {
	asked := r.Dir
	switch {
	case r.Call != "":
		return r.Call
	case r.Kind == trace.Response && r.Dir == trace.In:
		asked = trace.Out
	case r.Kind == trace.Response:
		asked = trace.In
	}
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", r.Leg, r.Peer, asked, r.ID)
}

// aside reports whether a frame is about what the one who made the call is asked itself before the answer, as legacy clients are for
// servers of the revision 2026-07-28.
func (c *call) aside(r *trace.Record) bool {
	asked := r.Dir != c.first.Dir
	if r.Kind == trace.Response {
		asked = !asked
	}
	return asked && r.Leg == c.first.Leg
}

func (cs *calls) request(key string, c *call, r *trace.Record) *call {
	if c != nil && c.first.Leg != r.Leg {
		c.other, c.target = r.Peer, r.Name
		return c
	}
	if c != nil { // the id is in use: keep the earlier call apart
		cs.open[fmt.Sprintf("%s\x00%d", key, c.first.Seq)] = c
	}
	c = &call{first: r, status: statusPending, texts: make([]bool, len(cs.filter.texts))}
	cs.open[key] = c
	return c
}

// respond takes an answer and reports whether it is the one that the call began for.
func (c *call) respond(r *trace.Record) bool {
	took := cmp.Or(r.LegUS, r.TotalUS, r.US-c.first.US)
	c.verdict, c.rule = cmp.Or(r.Verdict, c.verdict), cmp.Or(r.Rule, c.rule)
	if r.Leg != c.first.Leg {
		c.there += took
		return false
	}
	c.answered = true
	c.status, c.code = cmp.Or(r.Status, trace.StatusOK), r.Code
	c.problem = problemOf(r)
	if c.byToolman() {
		c.total, c.there = took, took
		return true
	}
	c.total = cmp.Or(r.TotalUS, r.US-c.first.US)
	c.own = cmp.Or(r.OwnUS, max(0, c.total-c.there))
	return true
}

func (c *call) cancel(r *trace.Record) {
	c.status = trace.StatusCancelled
	c.total = r.US - c.first.US
}

// note adds what all frames have: bytes, and the texts to look for.
func (cs *calls) note(c *call, r *trace.Record) {
	switch {
	case r.Leg != c.first.Leg || r.Kind == trace.Notification:
	case r.Dir == trace.In:
		c.in += r.Bytes
	default:
		c.out += r.Bytes
	}
	if c.verdict == "" {
		c.verdict, c.rule = r.Verdict, r.Rule
	}
	if cs.keep {
		c.frames = append(c.frames, r)
	}
	for i, seen := range cs.filter.seen(r) {
		c.texts[i] = c.texts[i] || seen
	}
}

// gone ends what toolman itself had asked a server that is gone, as an event says. Clients get answers to what they had asked.
func (cs *calls) gone(r *trace.Record) (over []*call) {
	if r.Event != trace.EventGone {
		return nil
	}
	for key, c := range cs.open {
		if c.byToolman() && c.first.Leg == trace.Upstream && c.first.Peer == r.Peer {
			c.status, c.problem, c.total = statusGone, r.Text, r.US-c.first.US
			delete(cs.open, key)
			over = append(over, c)
		}
	}
	slices.SortFunc(over, earlier)
	return over
}

func earlier(a, b *call) int { return cmp.Compare(a.first.Seq, b.first.Seq) }

// rest are the calls that are not over, in the order they began.
func (cs *calls) rest() []*call {
	rest := slices.SortedFunc(maps.Values(cs.open), earlier)
	clear(cs.open)
	return slices.DeleteFunc(rest, func(c *call) bool { return c.reported })
}

// problemOf is what a response that reports an error says. One of toolman's own shows only in the message that it is an error.
func problemOf(r *trace.Record) string {
	if !isFailure(r.Status) && r.Status != trace.StatusLocal {
		return ""
	}
	var m struct {
		Error  struct{ Message string }
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if json.Unmarshal(r.Msg, &m) != nil || !m.Result.IsError || len(m.Result.Content) == 0 {
		return m.Error.Message
	}
	var own struct{ Error string } // as toolman's own results say it
	text := m.Result.Content[0].Text
	if json.Unmarshal([]byte(text), &own) == nil && own.Error != "" {
		return own.Error
	}
	return text
}
