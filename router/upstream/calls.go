package upstream

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/limiter"
	"toolman/router/tracing"
)

// Submit writes a request of the client, with the edits of out, to the upstream that
// knows what it is about by this name.
func (u *Upstream) Submit(m *jsonrpc.Message, out *peer.Outgoing, c *Call, token jsonrpc.Span, name string) {
	if u.admit(m, out, c) && !u.write(m, out, c, token, name) && u.pending.limiter != nil {
		u.admitNext(out)
	}
}

// write is submit for a call that may be written now. It reports whether that was so:
// if not, the call was answered.
func (u *Upstream) write(m *jsonrpc.Message, out *peer.Outgoing, c *Call, token jsonrpc.Span, name string) bool {
	id, ok := u.pending.calls.Add(*c)
	if !ok {
		out.Forget()
		c.releasePlace(u)
		c.Caller.Unsent(*c, u.GoneText(), audit.Gone, out)
		return false
	}
	num := out.Number(id)
	out.Edit(m.ID, num)
	if token.Present() {
		out.Edit(token, num)
	}
	if err := u.Send(out, m, &tracing.Note{ID: c.TraceID, Method: c.Method, Name: name}); err != nil {
		if _, mine := u.pending.calls.Take(id); mine {
			c.releasePlace(u)
			c.Caller.Unsent(*c, u.unsent(err), audit.Refused, out)
		}
		return false
	}
	u.watchTimeout()
	return true
}

// unsent says why a request could not be written to the upstream.
func (u *Upstream) unsent(err error) string {
	switch {
	case errors.Is(err, jsonrpc.ErrQueueFull):
		return fmt.Sprintf("server %s does not read what it is sent, so this call was not passed on; try again later or go on without it", u.Name)
	case errors.Is(err, jsonrpc.ErrLineBreak):
		return fmt.Sprintf("this call was not passed on to server %s: %v; send it again without the line break", u.Name, err)
	}
	return u.GoneText()
}

// CancelCall takes a call back from the server, and returns it, unless somebody else has
// taken it before.
func (u *Upstream) CancelCall(id uint64, reason string, out *peer.Outgoing) (c Call, ok bool) {
	if c, ok = u.pending.calls.Take(id); ok {
		u.sendCancelled(id, &c, reason, out)
	}
	return c, ok
}

// Cancellation takes back a request with an id of toolman's own.
func Cancellation(id uint64, reason string) []byte {
	params := strconv.AppendUint([]byte(`{"requestId":`), id, 10)
	params = append(jsonrpc.AppendQuoted(append(params, `,"reason":`...), reason), '}')
	return jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), params)
}

// EachCall calls f for each call that the server has not answered, toolman's own requests included.
func (u *Upstream) EachCall(f func(id uint64, c Call)) { u.pending.calls.Each(f) }

// EachQueued calls f for each call that waits for its turn.
func (u *Upstream) EachQueued(f func(c *Call)) {
	u.pending.limiter.Each(func(q *queuedCall) { f(&q.Call) })
}

// TakeCall takes a call that the server has, or that waits for its turn: then the ID is 0. It is
// for the caller to tell the server.
func (u *Upstream) TakeCall(match func(*Call) bool) (id uint64, c Call, ok bool) {
	if id, c, ok = u.pending.calls.TakeIf(func(c Call) bool { return match(&c) }); ok {
		return id, c, true
	}
	u.pending.limiter.Remove(func(q *queuedCall) bool {
		if ok || !match(&q.Call) {
			return false
		}
		c, ok = q.Call, true
		return true
	})
	return 0, c, ok
}

// TakeQueued takes the calls that wait for their turn and match.
func (u *Upstream) TakeQueued(match func(*Call) bool) (taken []Call) {
	for _, q := range u.pending.limiter.Remove(func(q *queuedCall) bool { return match(&q.Call) }) {
		taken = append(taken, q.Call)
	}
	return taken
}

// TakeCalls takes the calls that the server has and that match. It may still answer them.
func (u *Upstream) TakeCalls(match func(*Call) bool, out *peer.Outgoing) (taken []Call) {
	for _, c := range u.pending.calls.TakeAll(func(c Call) bool { return match(&c) }) {
		u.callFinished(&c.Call, out)
		taken = append(taken, c.Call)
	}
	return taken
}

// CancelCalls takes the calls back from the server that match, and returns them.
func (u *Upstream) CancelCalls(match func(*Call) bool, reason string, out *peer.Outgoing) (taken []Call) {
	for _, c := range u.pending.calls.TakeAll(func(c Call) bool { return match(&c) }) {
		u.sendCancelled(c.ID, &c.Call, reason, out)
		taken = append(taken, c.Call)
	}
	return taken
}

// sendCancelled tells the server that a call, which was taken, is cancelled.
func (u *Upstream) sendCancelled(id uint64, c *Call, reason string, out *peer.Outgoing) {
	u.pending.late.Add(id)
	u.SendFrame(out, Cancellation(id, reason), tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	u.callCancelled(c, out)
}

// PassCancel passes the client's cancellation of a call on, which was taken and has this ID at the
// server. at is where the message has the client's.
func (u *Upstream) PassCancel(id uint64, c *Call, m *jsonrpc.Message, at jsonrpc.Span, out *peer.Outgoing) {
	u.pending.late.Add(id)
	out.Edit(at, out.Number(id))
	u.Send(out, m, &tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	u.callCancelled(c, out)
}

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
			"this one was not passed on: try again when some of them are answered", u.Name, u.pending.limiter.Limit())
		if !Limited(c.Method) {
			text = fmt.Sprintf("server %s has %d requests of this client that are no calls, as many as it may have of one; "+
				"this one was not passed on: try again when some of them are answered", u.Name, limiter.MaxControl)
		}
		c.Caller.Unsent(*c, text, audit.Refused, out)
	}
	return false
}

// callFinished notes that a call, which was taken, is over for the server, and passes on those
// that have waited for that. The batch has no edits.
func (u *Upstream) callFinished(c *Call, out *peer.Outgoing) {
	if c.place != limiter.None {
		c.releasePlace(u)
		u.admitNext(out)
	}
}

// cancelledOpen is how long a server at a url may still answer a call that was cancelled, in the legacy
// era: mcpwire/streamhttp keeps its request open for so long.
const cancelledOpen = 5 * time.Second

// callCancelled is over for a call that was taken back. As long as its request is open it counts in its
// client's share, so that no client has more requests open by cancelling them.
func (u *Upstream) callCancelled(c *Call, out *peer.Outgoing) {
	if u.Dial != nil && !u.Source.Modern && c.place == limiter.Active {
		off := *c
		u.pending.limiter.Linger(off.Caller.Principal().Client())
		off.place, c.place = limiter.Lingering, limiter.None
		time.AfterFunc(cancelledOpen, func() {
			var out peer.Outgoing
			u.callFinished(&off, &out)
			out.Flush()
		})
		u.admitNext(out)
		return
	}
	u.callFinished(c, out)
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
		q.Call.releasePlace(u)
		q.Caller.Unsent(q.Call, fmt.Sprintf("this call waited for its turn at server %s and could not be passed on", u.Name), audit.Failed, out)
		return
	}
	if u.env.Clock.Timed() {
		q.Call.noteAdmitted(u.env.Clock.Now())
	}
	if u.dedicated.leased { // and not there yet when the call came
		u.RaiseLogLevel(q.Call.Logs, nil, out)
	}
	token, _ := mcpwire.ProgressToken(&m)           // was there before, or is not there
	name, _, _ := mcpwire.Target(&m, q.Call.Method) // likewise
	u.write(&m, out, &q.Call, token, string(m.Text(name)))
}

// watchTimeout arranges for calls that take too long to be given up.
func (u *Upstream) watchTimeout() {
	if u.CallTimeout <= 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.pending.watching {
		u.pending.watching = true
		time.AfterFunc(u.CallTimeout, u.checkTimeouts)
	}
}

// checkTimeouts gives up calls that are over their time, and comes back when the next
// may be.
func (u *Upstream) checkTimeouts() {
	now := u.env.Clock.Now()
	u.expireCalls(now)
	next := int64(-1)
	u.mu.Lock()
	defer u.mu.Unlock()
	sooner := func(c *Call) {
		if due := c.due(u.CallTimeout); c.Caller != nil && (next < 0 || due < next) {
			next = due
		}
	}
	u.pending.calls.Each(func(_ uint64, c Call) { sooner(&c) })
	u.pending.limiter.Each(func(q *queuedCall) { sooner(&q.Call) })
	if u.pending.watching = next >= 0; u.pending.watching {
		time.AfterFunc(time.Duration(next-now)+time.Millisecond, u.checkTimeouts)
	}
}

// expireCalls gives up the calls that are over their time now.
func (u *Upstream) expireCalls(now int64) {
	var out peer.Outgoing
	for _, c := range u.pending.limiter.Remove(func(c *queuedCall) bool { return c.due(u.CallTimeout) <= now }) {
		c.Caller.Lost(c.Call, fmt.Sprintf("this call has waited %s (call_timeout) for its turn at server %s, which has %d calls under way, as many as it may have "+
			"(max_concurrent_calls); it was not passed on", u.CallTimeout, u.Name, u.pending.limiter.Limit()), audit.Timeout, &out)
	}
	for _, due := range u.pending.calls.TakeAll(func(c Call) bool { return c.Caller != nil && c.due(u.CallTimeout) <= now }) {
		u.expireCall(due.ID, &due.Call, &out)
	}
	out.Flush()
}

func (u *Upstream) expireCall(id uint64, c *Call, out *peer.Outgoing) {
	u.pending.late.Add(id)
	text := fmt.Sprintf("server %s did not answer within %s (call_timeout); the call was cancelled there", u.Name, u.CallTimeout)
	if c.lastProgress > 0 {
		text = fmt.Sprintf("server %s has sent neither an answer nor progress for %s (call_timeout), or has taken %d times as long in all; the call was cancelled there",
			u.Name, u.CallTimeout, maxExtended)
	}
	c.Caller.Lost(*c, text, audit.Timeout, out)
	u.SendFrame(out, Cancellation(id, "call_timeout"), tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	u.callCancelled(c, out)
}
