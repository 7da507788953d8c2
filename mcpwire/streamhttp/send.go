package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

const (
	maxTries      = 4                      // of one message
	firstPause    = 200 * time.Millisecond // between tries, doubled each time
	maxPause      = 30 * time.Second
	maxRetryAfter = 5 * time.Second // a server that asks for more gets no retry
	notifyTime    = 30 * time.Second
	expireTime    = 5 * time.Second // for requests in flight
	expirePause   = 10 * time.Millisecond

	// headStart is the time between a request and its cancellation if the server does not react to
	// the request. The two use different connections, and a server ignores the cancellation of a
	// request that it has not read yet.
	headStart = 100 * time.Millisecond
)

// request sends a request and ensures that it gets a response.
func (c *Conn) request(p *post) {
	defer p.cancel()
	defer c.finish(p)
	if p.method != mcpwire.Listen {
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-p.ctx.Done():
			return
		}
	}
	if !p.ready() {
		return
	}
	if f := c.deliver(p); f != nil {
		c.expire(f) // first: a client that has the answer may send another request at once
		c.fail(p, f)
	}
}

// notify sends a notification or a response.
func (c *Conn) notify(p *post) {
	defer p.cancel()
	defer c.finish(p)
	if !p.ready() {
		return
	}
	limit := time.AfterFunc(notifyTime, p.cancel)
	defer limit.Stop()
	if f := c.deliver(p); f != nil {
		c.o.Log("a message was not delivered: " + c.explain(f))
		c.expire(f)
	} else if p.method == mcpwire.Initialized && p.era == mcpwire.Legacy {
		c.openStream()
	}
}

// ready waits until the message may be sent. It returns false if the message was cancelled.
func (p *post) ready() bool {
	for _, first := range p.after {
		if first == nil {
			continue
		}
		select {
		case <-first:
		case <-p.ctx.Done():
		}
	}
	if p.cancelled != nil && p.ctx.Err() == nil {
		select {
		case <-p.reacted:
		case <-time.After(time.Until(p.cancelled.writtenAt.Add(headStart))):
		case <-p.ctx.Done():
		}
	}
	return p.ctx.Err() == nil
}

// deliver sends a message, and repeats it as long as retry says so. It returns nil if the message
// was delivered or cancelled.
func (c *Conn) deliver(p *post) *endpoint.Failure {
	for {
		f := c.attempt(p)
		if f == nil || p.ctx.Err() != nil {
			return nil
		}
		if f.Reopened {
			p.tries, p.renewed = 0, false
		}
		wait, again := c.retry(p, f)
		if !again {
			return f
		}
		if !sleep(p.ctx, wait) {
			return nil
		}
		p.tries++
	}
}

// retry decides whether a message is sent again, and when. A request that the server may have
// executed is only repeated if it is idempotent.
func (c *Conn) retry(p *post, f *endpoint.Failure) (wait time.Duration, again bool) {
	switch {
	case p.acknowledged && (f.Status == 0 || f.Transient):
		return max(pause(p.tries), f.Wait), true // a subscription lasts until it is cancelled
	case f.Status == http.StatusUnauthorized:
		return 0, f.Unsent
	case f.Status == http.StatusNotFound && p.inSession() && p.id != "" && !p.revived:
		p.revived = true // it was not executed (2025-11-25, Transports, Session Management)
		return 0, c.revive(p.ctx, p.session)
	case f.Code == mcpwire.CodeHeaderMismatch && p.method == mcpwire.ToolsCall && !p.relisted:
		p.relisted = true
		return 0, c.relist(p)
	case f.NotStreamable() && p.method == mcpwire.Initialize && !p.own && p.era == mcpwire.Legacy:
		return 0, c.fallBack(p)
	case p.tries+1 >= maxTries || !f.Transient || f.Wait > maxRetryAfter:
		return 0, false
	}
	return max(pause(p.tries), f.Wait), f.Unsent || p.idempotent()
}

// pause returns how long to wait after n failed tries.
func pause(n int) time.Duration { return min(firstPause<<min(n, 10), maxPause) }

// attempt sends a message once, and reads the response.
func (c *Conn) attempt(p *post) *endpoint.Failure {
	if f := c.refusal.Load(); f != nil && p.msg.Kind == jsonrpc.Request {
		return f
	}
	var sent atomic.Bool
	ctx := httptrace.WithClientTrace(p.ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { sent.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { c.mark(p, false) },
	})
	elsewhere := c.server.AnswersOnStream()
	req, err := c.server.Post(ctx, p.frame)
	if err != nil {
		return endpoint.Unauthorized(err)
	}
	c.setHeaders(req.Header, p)
	resp, err := c.server.Do(req)
	if err != nil {
		return endpoint.NetworkFailure(err, !sent.Load())
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		f := c.server.Refusal(req, resp, p.inSession())
		if f.Status == http.StatusUnauthorized && f.Unsent {
			f.Unsent, p.renewed = !p.renewed, true
			f.Transient = f.Unsent
		}
		return f
	}
	c.mark(p, true)
	if p.msg.Kind == jsonrpc.Request && !elsewhere {
		return c.read(p, resp)
	}
	if elsewhere || httpheader.MediaType(resp.Header) != httpheader.EventStream {
		httpclient.Drain(resp.Body)
	}
	if p.msg.Kind == jsonrpc.Request {
		<-p.ctx.Done()
	}
	return nil
}

// expire ends the connection if the server takes no more requests after a failure. Those that it
// has taken may still get their responses. Further ones fail as this one: an answer to them would
// hide why.
func (c *Conn) expire(f *endpoint.Failure) {
	if !f.Ended || !c.refusal.CompareAndSwap(nil, &endpoint.Failure{Text: f.Text, Status: f.Status}) {
		return
	}
	go func() {
		limit := time.Now().Add(expireTime)
		for c.Answering() > 0 && time.Now().Before(limit) {
			if !sleep(c.ctx, expirePause) {
				return
			}
		}
		c.end(errors.New(f.Text))
	}()
}

// mark records that a message has been written, and with begun also that the server reacts to it.
func (c *Conn) mark(p *post, begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.wrote(p)
	if begun {
		closeOnce(p.begun)
	}
}

// setHeaders sets the headers of a message. In the modern era they repeat parts of it, and in the
// legacy era they name its session.
func (c *Conn) setHeaders(h http.Header, p *post) {
	if p.era == mcpwire.Modern {
		c.params.Set(h, &p.msg, p.method, p.version)
		return
	}
	c.mu.Lock()
	p.session = c.session.current
	c.mu.Unlock()
	if p.method != mcpwire.Initialize {
		p.session.SetHeaders(h)
	}
}

// ask sends one of the transport's own requests and returns the response, or nil for a
// notification.
func (c *Conn) ask(ctx context.Context, frame []byte) (*jsonrpc.Message, *endpoint.Failure) {
	var m jsonrpc.Message
	if err := jsonrpc.Scan(frame, &m); err != nil {
		return nil, &endpoint.Failure{Text: err.Error()}
	}
	p, _ := newPost(&m, nil) // fails only with edits
	p.own = true
	p.ctx, p.cancel = context.WithTimeout(ctx, notifyTime)
	defer p.cancel()
	c.mu.Lock()
	c.out.add(p) // does not fail for an own message
	c.mu.Unlock()
	defer c.finish(p)
	if f := c.attempt(p); f != nil {
		c.expire(f)
		return nil, f
	}
	if p.answer == nil && p.id != "" {
		return nil, &endpoint.Failure{Text: "the server did not respond in time"}
	}
	return p.answer, nil
}
