package router

import (
	"fmt"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/tracing"
)

// watchTimeout arranges for calls that take too long to be given up.
func (u *Upstream) watchTimeout() {
	if u.CallTimeout <= 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.pending.watching {
		u.pending.watching = true
		time.AfterFunc(u.CallTimeout, u.sweep)
	}
}

// sweep gives up calls that are over their time, and comes back when the next
// may be.
func (u *Upstream) sweep() {
	now := u.env.Clock.Now()
	u.giveUp(now)
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
		time.AfterFunc(time.Duration(next-now)+time.Millisecond, u.sweep)
	}
}

// giveUp gives up the calls that are over their time now.
func (u *Upstream) giveUp(now int64) {
	var out peer.Outgoing
	for _, c := range u.pending.limiter.Remove(func(c *queuedCall) bool { return c.due(u.CallTimeout) <= now }) {
		c.Caller.Lost(c.Call, fmt.Sprintf("this call has waited %s (call_timeout) for its turn at server %s, which has %d calls under way, as many as it may have "+
			"(max_concurrent_calls); it was not passed on", u.CallTimeout, u.Name, u.pending.limiter.Most()), audit.Timeout, &out)
	}
	for _, due := range u.pending.calls.TakeAll(func(c Call) bool { return c.Caller != nil && c.due(u.CallTimeout) <= now }) {
		u.giveUpCall(due.ID, &due.Call, &out)
	}
	out.Flush()
}

func (u *Upstream) giveUpCall(id uint64, c *Call, out *peer.Outgoing) {
	u.pending.late.add(id)
	text := fmt.Sprintf("server %s did not answer within %s (call_timeout); the call was cancelled there", u.Name, u.CallTimeout)
	if c.heard > 0 {
		text = fmt.Sprintf("server %s has sent neither an answer nor progress for %s (call_timeout), or has taken %d times as long in all; the call was cancelled there",
			u.Name, u.CallTimeout, maxExtended)
	}
	c.Caller.Lost(*c, text, audit.Timeout, out)
	u.SendFrame(out, Cancellation(id, "call_timeout"), tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	u.calledOff(c, out)
}
