package streamhttp

import (
	"context"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

const (
	maxPending  = 4096            // messages that are not done
	cancelGrace = 5 * time.Second // how long a legacy server may still respond to a cancelled request
	settleTime  = 2 * time.Second // how long messages wait for an earlier one that changes the session
)

// An outbox holds the messages that are not done, and decides about their order. Conn.mu guards it.
type outbox struct {
	limit            int              // bytes that may wait; an empty outbox takes a message of any size
	queued           []*post          // not flushed yet
	open             map[string]*post // requests without a response, by ID
	pending          int              // messages that are not done
	answering        map[*post]bool   // requests that are not done, without subscriptions and cancelled requests
	bytes            int              // of messages that are not written
	barrier          <-chan struct{}  // closed when later messages may follow, after the handshake
	change           <-chan struct{}  // the same, after a change of the session
	lastNotification <-chan struct{}  // closed when the last notification in the sequence has arrived
	notifications    int              // that have not arrived
	drained          chan struct{}    // closed when closing, and all notifications have arrived
	handshake        bool             // initialize was sent
	version          string           // of the last modern request, unless there was a handshake
	closing          bool
}

// add counts a message. There is no limit on the transport's own messages.
func (o *outbox) add(p *post) error {
	switch {
	case p.own:
	case o.closing:
		return jsonrpc.ErrClosed
	case o.pending >= maxPending || o.bytes > 0 && o.bytes+len(p.frame) > o.limit:
		return jsonrpc.ErrQueueFull
	}
	o.pending++
	o.bytes += len(p.frame)
	if p.msg.Kind == jsonrpc.Notification {
		o.notifications++
	}
	return nil
}

// schedule decides what a message waits for, and what waits for the message. It reports whether the
// message is to be sent.
func (o *outbox) schedule(p *post) bool {
	p.after = []<-chan struct{}{o.barrier, o.change}
	switch p.msg.Kind {
	case jsonrpc.Request:
		o.scheduleRequest(p)
	case jsonrpc.Notification:
		return o.scheduleNotification(p)
	}
	return true
}

func (o *outbox) scheduleRequest(p *post) {
	o.open[p.id] = p
	if p.method != mcpwire.Listen {
		o.answering[p] = true
	}
	switch {
	case p.era == mcpwire.Modern && !o.handshake:
		o.version = p.version
	case p.era == mcpwire.Modern:
	case p.method == mcpwire.Initialize:
		o.handshake, o.version = true, ""
		o.barrier, o.lastNotification = p.done, p.done
	case p.changesSession():
		ctx, cancel := context.WithTimeout(context.Background(), settleTime)
		o.change, p.settled = ctx.Done(), cancel
	}
}

// scheduleNotification keeps the notifications in sequence. All later messages wait for the one
// that ends the handshake. The cancellation of an open request only waits for that request.
func (o *outbox) scheduleNotification(p *post) bool {
	if p.era != mcpwire.Modern && o.version != "" {
		p.era, p.version = mcpwire.Modern, o.version
	}
	if id, ok := p.cancels(); ok && !o.cancel(p, id) {
		o.finish(p)
		p.cancel()
		return false
	}
	if p.cancelled != nil {
		p.after = []<-chan struct{}{p.cancelled.written}
	} else {
		p.after = append(p.after, o.lastNotification)
		o.lastNotification = p.done
	}
	if p.method == mcpwire.Initialized && p.era == mcpwire.Legacy {
		o.barrier = p.done
	}
	return true
}

// cancel ends an open request that a notification cancels. It reports whether the notification has
// to be sent. In the modern era, the end of the POST cancels the request (2026-07-28, Streamable
// HTTP, Cancellation).
func (o *outbox) cancel(p *post, id string) bool {
	of := o.open[id]
	if of == nil {
		return p.era == mcpwire.Legacy
	}
	o.take(of)
	delete(o.answering, of)
	if of.era == mcpwire.Modern {
		of.cancel()
		return false
	}
	p.cancelled, p.reacted = of, of.begun
	time.AfterFunc(cancelGrace, of.cancel)
	return true
}

// take claims the right to answer a request. It returns false if the request has been answered or
// cancelled.
func (o *outbox) take(p *post) bool {
	if p.over {
		return false
	}
	p.over = true
	if o.open[p.id] == p {
		delete(o.open, p.id)
	}
	return true
}

// wrote records that a message has been written.
func (o *outbox) wrote(p *post) {
	if p.writtenAt.IsZero() {
		p.writtenAt = time.Now()
		close(p.written)
		o.bytes -= len(p.frame)
	}
}

// finish records that a message is done.
func (o *outbox) finish(p *post) {
	if !closeOnce(p.done) {
		return
	}
	o.wrote(p)
	closeOnce(p.begun)
	o.pending--
	delete(o.answering, p)
	if p.settled != nil {
		p.settled()
	}
	if p.msg.Kind == jsonrpc.Notification {
		o.notifications--
		o.drain()
	}
}

// drain closes drained if the outbox is closing and no notification is left to arrive.
func (o *outbox) drain() {
	if o.closing && o.notifications == 0 {
		closeOnce(o.drained)
	}
}

// closeOnce closes a channel, and reports whether it was open. Conn.mu guards it.
func closeOnce(c chan struct{}) bool {
	select {
	case <-c:
		return false
	default:
		close(c)
		return true
	}
}
