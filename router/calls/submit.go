package calls

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

// Submit sends a request of the client to the server, with the edits of out, or queues it. token is
// the span of its progress token, and name the server's name of the item, for the trace. If the
// request cannot be sent, c.Caller.Unsent answers it.
func (t *Table) Submit(m *jsonrpc.Message, out *peer.Outgoing, c *Call, token jsonrpc.Span, name string) {
	if t.admit(m, out, c) && !t.write(m, out, c, token, name) && t.limiter != nil {
		t.admitNext(out)
	}
}

// admit reports whether a call may be sent now. If not, it is queued or was refused.
func (t *Table) admit(m *jsonrpc.Message, out *peer.Outgoing, c *Call) bool {
	if t.limiter == nil {
		return true
	}
	var how limiter.Admission
	if client := c.Caller.Principal().Client(); Limited(c.Method) {
		c.place, how = t.limiter.Admit(client, len(m.Frame), func() *queuedCall { return &queuedCall{*c, out.Preview(m.Frame)} })
	} else {
		c.place, how = t.limiter.AdmitControl(client)
	}
	switch how {
	case limiter.Admitted:
		return true
	case limiter.Queued:
		out.Forget()
		t.watchTimeout()
	default:
		out.Forget()
		c.Audited.Decide(audit.Busy)
		text := fmt.Sprintf("server %s has %d calls under way, as many as it may have (max_concurrent_calls), and too many wait for their turn; "+
			"this one was not passed on: try again when some of them are answered", t.name, t.limiter.Limit())
		if !Limited(c.Method) {
			text = fmt.Sprintf("server %s has %d open requests of this client besides calls, which is the limit for one client; "+
				"this one was not passed on: try again when some of them are answered", t.name, limiter.MaxControl)
		}
		c.Caller.Unsent(*c, text, audit.Refused, out)
	}
	return false
}

// Limited reports whether a method counts against max_concurrent_calls: the server does work for
// it. Requests about a task do not count, so that they are not queued behind calls.
func Limited(method mcpwire.Method) bool {
	return mcpwire.TakesInput(method) || method == mcpwire.Complete
}

// A queuedCall waits for a place at the limiter (max_concurrent_calls). Its frame contains all
// edits except those of its ID and progress token.
type queuedCall struct {
	Call
	frame []byte
}

// write sends a call. It returns false if that failed; the call is answered then.
func (t *Table) write(m *jsonrpc.Message, out *peer.Outgoing, c *Call, token jsonrpc.Span, name string) bool {
	id, ok := t.pending.Add(*c)
	if !ok {
		out.Forget()
		t.release(c)
		c.Caller.Unsent(*c, t.conn.GoneText(), audit.Gone, out)
		return false
	}
	num := out.Number(id)
	out.Edit(m.ID, num)
	if token.Present() {
		out.Edit(token, num)
	}
	if err := t.conn.Send(out, m, tracing.Note{ID: c.TraceID, Method: c.Method, Name: name}); err != nil {
		if _, mine := t.pending.Take(id); mine {
			t.release(c)
			c.Caller.Unsent(*c, t.unsent(err), audit.Refused, out)
		}
		return false
	}
	t.watchTimeout()
	return true
}

// unsent returns the error text for a request that could not be written to the server.
func (t *Table) unsent(err error) string {
	switch {
	case errors.Is(err, jsonrpc.ErrQueueFull):
		return fmt.Sprintf("server %s does not read what it is sent, so this call was not passed on; try again later or go on without it", t.name)
	case errors.Is(err, jsonrpc.ErrLineBreak):
		return fmt.Sprintf("this call was not passed on to server %s: %v; send it again without the line break", t.name, err)
	}
	return t.conn.GoneText()
}

// release gives the call's place at the limiter back.
func (t *Table) release(c *Call) {
	if c.place != limiter.None {
		t.limiter.Leave(c.Caller.Principal().Client(), c.place)
		c.place = limiter.None
	}
}

// Finished releases the place of a call that was taken from the table, and sends queued calls.
// out must have no edits.
func (t *Table) Finished(c *Call, out *peer.Outgoing) {
	if c.place != limiter.None {
		t.release(c)
		t.admitNext(out)
	}
}

// callCancelled is Finished for a call that was cancelled. While the HTTP request of the call
// is still open it counts in its client's share, so that cancelling does not let a client have more
// requests open.
func (t *Table) callCancelled(c *Call, out *peer.Outgoing) {
	if c.place == limiter.Active && t.conn.Lingers() {
		lingering := *c
		t.limiter.Linger(c.Caller.Principal().Client())
		lingering.place, c.place = limiter.Lingering, limiter.None
		time.AfterFunc(cancelledOpen, func() {
			var out peer.Outgoing
			t.Finished(&lingering, &out)
			out.Flush()
		})
		t.admitNext(out)
		return
	}
	t.Finished(c, out)
}

// cancelledOpen is how long mcpwire/streamhttp keeps the request of a cancelled call open for a
// legacy server that toolman reaches over HTTP.
const cancelledOpen = 5 * time.Second

// admitNext sends queued calls while the limiter has places.
func (t *Table) admitNext(out *peer.Outgoing) {
	for q, ok := t.limiter.Next(); ok; q, ok = t.limiter.Next() {
		q.Call.place = limiter.Active
		t.writeQueued(q, out)
	}
}

// writeQueued sends a call that was queued.
func (t *Table) writeQueued(q *queuedCall, out *peer.Outgoing) {
	var m jsonrpc.Message
	if jsonrpc.Scan(q.frame, &m) != nil { // cannot happen: the frame was valid when it was queued
		t.release(&q.Call)
		q.Caller.Unsent(q.Call, fmt.Sprintf("this call waited for its turn at server %s and could not be passed on", t.name), audit.Failed, out)
		return
	}
	if t.clock.Timed() {
		q.Call.noteAdmitted(t.clock.Now())
	}
	t.conn.Dequeued(&q.Call, out)
	token, _ := mcpwire.ProgressToken(&m) // it had no error before, and the next has none either
	name, _, _ := mcpwire.Target(&m, q.Call.Method)
	t.write(&m, out, &q.Call, token, string(m.Text(name)))
}

// EachCall calls f for each request that the server has not answered, including toolman's own.
func (t *Table) EachCall(f func(id uint64, c Call)) { t.pending.Each(f) }

// EachQueued calls f for each queued call.
func (t *Table) EachQueued(f func(c *Call)) {
	t.limiter.Each(func(q *queuedCall) { f(&q.Call) })
}

// TakeCall removes and returns one pending or queued call that matches. id is 0 for a queued call.
// The caller must tell the server, with PassCancel for example.
func (t *Table) TakeCall(match func(*Call) bool) (id uint64, c Call, ok bool) {
	if id, c, ok = t.pending.TakeIf(func(c Call) bool { return match(&c) }); ok {
		return id, c, true
	}
	t.limiter.Remove(func(q *queuedCall) bool {
		if ok || !match(&q.Call) {
			return false
		}
		c, ok = q.Call, true
		return true
	})
	return 0, c, ok
}

// TakeQueued removes and returns the queued calls that match.
func (t *Table) TakeQueued(match func(*Call) bool) (taken []Call) {
	for _, q := range t.limiter.Remove(func(q *queuedCall) bool { return match(&q.Call) }) {
		taken = append(taken, q.Call)
	}
	return taken
}

// TakeCalls removes and returns the pending calls that match, without telling the server, which may
// still answer them.
func (t *Table) TakeCalls(match func(*Call) bool, out *peer.Outgoing) (taken []Call) {
	for _, c := range t.pending.TakeAll(func(c Call) bool { return match(&c) }) {
		t.Finished(&c.Call, out)
		taken = append(taken, c.Call)
	}
	return taken
}

// CancelCall cancels a call at the server and returns it. ok is false if the call is no longer
// pending.
func (t *Table) CancelCall(id uint64, reason string, out *peer.Outgoing) (c Call, ok bool) {
	if c, ok = t.pending.Take(id); ok {
		t.sendCancelled(id, &c, reason, out)
	}
	return c, ok
}

// CancelCalls cancels the pending calls that match, and returns them.
func (t *Table) CancelCalls(match func(*Call) bool, reason string, out *peer.Outgoing) (taken []Call) {
	for _, c := range t.pending.TakeAll(func(c Call) bool { return match(&c) }) {
		t.sendCancelled(c.ID, &c.Call, reason, out)
		taken = append(taken, c.Call)
	}
	return taken
}

// sendCancelled tells the server that a call is cancelled, which was taken from the table.
func (t *Table) sendCancelled(id uint64, c *Call, reason string, out *peer.Outgoing) {
	t.late.Add(id)
	t.conn.SendFrame(out, Cancellation(id, reason), tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	t.callCancelled(c, out)
}

// Cancellation returns a notifications/cancelled frame for a request that toolman has sent with
// this ID. An empty reason is left out.
func Cancellation(id uint64, reason string) []byte {
	params := strconv.AppendUint([]byte(`{"requestId":`), id, 10)
	if reason != "" {
		params = jsonrpc.AppendQuoted(append(params, `,"reason":`...), reason)
	}
	return jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), append(params, '}'))
}

// PassCancel passes the client's notifications/cancelled on. The call was taken from the table; id
// is its ID at the server, and at the span of the client's ID in m.
func (t *Table) PassCancel(id uint64, c *Call, m *jsonrpc.Message, at jsonrpc.Span, out *peer.Outgoing) {
	t.late.Add(id)
	out.Edit(at, out.Number(id))
	t.conn.Send(out, m, tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	t.callCancelled(c, out)
}

// watchTimeout starts the timer of checkTimeouts, if the server has a call_timeout.
func (t *Table) watchTimeout() {
	if t.timeout <= 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.watching {
		t.watching = true
		time.AfterFunc(t.timeout, t.checkTimeouts)
	}
}

// checkTimeouts fails calls that have timed out, and runs again when the next one may.
func (t *Table) checkTimeouts() {
	now := t.clock.Now()
	t.expireCalls(now)
	next := int64(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	earliest := func(c *Call) {
		if due := c.due(t.timeout); c.Caller != nil && (next < 0 || due < next) {
			next = due
		}
	}
	t.pending.Each(func(_ uint64, c Call) { earliest(&c) })
	t.limiter.Each(func(q *queuedCall) { earliest(&q.Call) })
	if t.watching = next >= 0; t.watching {
		time.AfterFunc(time.Duration(next-now)+time.Millisecond, t.checkTimeouts)
	}
}

// expireCalls fails the pending and queued calls that have timed out.
func (t *Table) expireCalls(now int64) {
	var out peer.Outgoing
	for _, c := range t.limiter.Remove(func(c *queuedCall) bool { return c.due(t.timeout) <= now }) {
		c.Caller.Lost(c.Call, fmt.Sprintf("this call has waited %s (call_timeout) for its turn at server %s, which has %d calls under way, as many as it may have "+
			"(max_concurrent_calls); it was not passed on", t.timeout, t.name, t.limiter.Limit()), audit.Timeout, &out)
	}
	for _, due := range t.pending.TakeAll(func(c Call) bool { return c.Caller != nil && c.due(t.timeout) <= now }) {
		t.expireCall(due.ID, &due.Call, &out)
	}
	out.Flush()
}

// expireCall fails a pending call that has timed out, and cancels it at the server.
func (t *Table) expireCall(id uint64, c *Call, out *peer.Outgoing) {
	t.late.Add(id)
	text := fmt.Sprintf("server %s did not answer within %s (call_timeout); the call was cancelled there", t.name, t.timeout)
	if c.lastProgress > 0 {
		text = fmt.Sprintf("server %s has sent neither an answer nor progress for %s (call_timeout), or has taken %d times as long in all; the call was cancelled there",
			t.name, t.timeout, maxExtended)
	}
	c.Caller.Lost(*c, text, audit.Timeout, out)
	t.conn.SendFrame(out, Cancellation(id, "call_timeout"), tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	t.callCancelled(c, out)
}
