package router

import (
	"fmt"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/limiter"
)

// A queuedCall waits for a place at its server (max_concurrent_calls). Its frame has all edits made but
// those of its ID and progress token.
type queuedCall struct {
	Call
	frame []byte
}

// Limited reports whether a method counts against max_concurrent_calls: it does if it has the server
// do something. A request about a task does not, so that it gets past those that wait for one.
func Limited(method mcpwire.Method) bool {
	return mcpwire.TakesInput(method) || method == mcpwire.Complete
}

// admit reports whether a call may be written now. If not it waits, or was refused.
func (u *Upstream) admit(m *jsonrpc.Message, out *peer.Outgoing, c *Call) bool {
	if u.pending.limiter == nil {
		return true
	}
	var how limiter.Admission
	if client := c.Caller.Principal().Client(); Limited(c.Method) {
		c.place, how = u.pending.limiter.Admit(client, len(m.Frame), func() queuedCall { return queuedCall{*c, out.Preview(m.Frame)} })
	} else {
		c.place, how = u.pending.limiter.AdmitControl(client)
	}
	switch how {
	case limiter.Admitted:
		return true
	case limiter.Queued:
		out.Forget()
		u.watchTimeout()
	default:
		out.Forget()
		c.Audited.Decide(audit.Busy)
		text := fmt.Sprintf("server %s has %d calls under way, as many as it may have (max_concurrent_calls), and too many wait for their turn; "+
			"this one was not passed on: try again when some of them are answered", u.Name, u.pending.limiter.Most())
		if !Limited(c.Method) {
			text = fmt.Sprintf("server %s has %d requests of this client that are no calls, as many as it may have of one; "+
				"this one was not passed on: try again when some of them are answered", u.Name, limiter.MaxControl)
		}
		c.Caller.Unsent(*c, text, audit.Refused, out)
	}
	return false
}

// leave takes back the call's place at its server.
func (c *Call) leave(u *Upstream) {
	if c.place != limiter.None {
		u.pending.limiter.Leave(c.Caller.Principal().Client(), c.place)
		c.place = limiter.None
	}
}

// over notes that a call, which was taken, is over for the server, and passes on those
// that have waited for that. The batch has no edits.
func (u *Upstream) over(c *Call, out *peer.Outgoing) {
	if c.place != limiter.None {
		c.leave(u)
		u.admitNext(out)
	}
}

// lateAnswer is how long a server at a url may still answer a call that was cancelled, in the legacy
// era: mcpwire/streamhttp keeps its request open for so long.
const lateAnswer = 5 * time.Second

// calledOff is over for a call that was taken back. As long as its request is open it counts in its
// client's share, so that no client has more requests open by cancelling them.
func (u *Upstream) calledOff(c *Call, out *peer.Outgoing) {
	if u.Dial != nil && !u.Source.Modern && c.place == limiter.Active {
		off := *c
		u.pending.limiter.Linger(off.Caller.Principal().Client())
		off.place, c.place = limiter.Lingering, limiter.None
		time.AfterFunc(lateAnswer, func() {
			var out peer.Outgoing
			u.over(&off, &out)
			out.Flush()
		})
		u.admitNext(out)
		return
	}
	u.over(c, out)
}

// admitNext writes the calls that have waited, as far as there are places.
func (u *Upstream) admitNext(out *peer.Outgoing) {
	for q, ok := u.pending.limiter.Next(); ok; q, ok = u.pending.limiter.Next() {
		q.Call.place = limiter.Active
		u.writeQueued(&q, out)
	}
}

// writeQueued writes a call that has waited.
func (u *Upstream) writeQueued(q *queuedCall, out *peer.Outgoing) {
	var m jsonrpc.Message
	if jsonrpc.Scan(q.frame, &m) != nil { // it was one when it came
		q.Call.leave(u)
		q.Caller.Unsent(q.Call, fmt.Sprintf("this call waited for its turn at server %s and could not be passed on", u.Name), audit.Failed, out)
		return
	}
	if u.env.Clock.Timed() {
		q.Call.wait(u.env.Clock.Now())
	}
	if u.private.leased { // and not there yet when the call came
		u.raiseLogLevel(q.Call.Logs, nil, out)
	}
	token, _ := mcpwire.ProgressToken(&m)           // was there before, or is not there
	name, _, _ := mcpwire.Target(&m, q.Call.Method) // likewise
	u.write(&m, out, &q.Call, token, string(m.Text(name)))
}
