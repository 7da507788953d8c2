package replay

import (
	"context"
	"strings"
	"time"

	"toolman/cmd/internal/traces/recording"
	"toolman/mcpwire"
)

// before waits for what had arrived before a message.
func (p *player) before(at int) {
	for _, r := range append([]*request(nil), p.open...) {
		if r.call != nil && r.call.Response != nil && r.call.Response.At < at && r.call.Request.Method != recording.Listen {
			p.settle(r)
		}
	}
	for _, a := range p.asks {
		if a.call.Response != nil && a.call.Response.At < at && p.expects(a) {
			a.late = !p.until(grace, func() bool { return a.asked })
		}
	}
	for _, w := range p.waits {
		if w.at < at && !w.over {
			p.until(grace/4, func() bool { return w.over })
			w.over = true
		}
	}
}

// settle waits for the response to a request. Without one it is forgotten.
func (p *player) settle(r *request) {
	if !p.until(time.Until(r.at.Add(p.options.Timeout)), func() bool { return r.done }) {
		p.forget(r)
		why := p.ended
		if why == "" {
			why = "no response within " + p.options.Timeout.String()
		}
		if !p.answers && p.ended == "" {
			p.ended = "the server does not answer"
		}
		if r.call != nil {
			p.fail(r.call, why)
		}
	}
}

// forget stops waiting for a request.
func (p *player) forget(r *request) {
	r.done, r.failed = true, true
	delete(p.byID, r.id)
	for i, other := range p.open {
		if other == r {
			p.open = append(p.open[:i:i], p.open[i+1:]...)
		}
	}
}

// until handles what the server sends until something holds. It reports whether that came before
// the timeout, and before the end of the server.
func (p *player) until(timeout time.Duration, holds func() bool) bool {
	if holds() {
		return true
	}
	if p.ended != "" {
		return false
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for !holds() {
		select {
		case e := <-p.conn.Events():
			p.event(&e)
			if p.ended != "" {
				return holds()
			}
		case <-timer.C:
			return false
		case <-p.ctx.Done():
			p.ended = context.Cause(p.ctx).Error()
			return false
		}
	}
	return true
}

// grace is how long a message waits for what the server had sent by itself.
const grace = 2 * time.Second

// A wait is a notification that messages after it wait for.
type wait struct {
	method string
	at     int // in Session.Messages
	over   bool
}

// awaited reports whether clients do something because of such a notification.
func awaited(method string) bool {
	return strings.HasSuffix(method, "/list_changed") || method == string(mcpwire.ResourceUpdated) || method == recording.Acknowledged
}
