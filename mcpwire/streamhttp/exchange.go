package streamhttp

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// headStart is how long a cancellation waits for the server to react to what it takes
// back, which was written before it.
const headStart = 100 * time.Millisecond

// request sends a request and sees that it is answered.
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
	if f := c.exchange(p); f != nil {
		c.fail(p, f)
	}
}

// notify sends a message that gets no answer.
func (c *Conn) notify(p *post) {
	defer p.cancel()
	defer c.finish(p)
	if !p.ready() {
		return
	}
	limit := time.AfterFunc(noteTime, p.cancel)
	defer limit.Stop()
	if f := c.exchange(p); f != nil {
		c.o.Log("a message was not delivered: " + f.text)
	} else if p.method == mcpwire.Initialized && p.era == mcpwire.Legacy {
		c.followSoon()
	}
}

// ready waits until it is the message's turn; false when nobody wants it any more.
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
	if p.reacted != nil { // it takes another connection, and must not overtake
		select {
		case <-p.reacted:
		case <-time.After(headStart):
		case <-p.ctx.Done():
		}
	}
	return p.ctx.Err() == nil
}

// exchange tries to deliver a message as often as is right. It returns why that failed, nil
// also when the message was cancelled.
func (c *Conn) exchange(p *post) *failure {
	for tries := 0; ; tries++ {
		f := c.attempt(p)
		if f == nil || p.ctx.Err() != nil {
			return nil
		}
		if f.reopened {
			tries = 0
		}
		wait, again := c.again(p, f, tries)
		if !again {
			return f
		}
		if !sleep(p.ctx, wait) {
			return nil
		}
	}
}

// attempt is one POST and what comes of it.
func (c *Conn) attempt(p *post) *failure {
	to, old := c.target(p)
	var sent atomic.Bool
	ctx := httptrace.WithClientTrace(p.ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { sent.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { c.wrote(p) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(p.frame))
	if err != nil {
		return &failure{text: c.where + ": " + err.Error()}
	}
	if err := c.setHeaders(req, p); err != nil {
		return &failure{text: c.where + ": " + err.Error()}
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return c.broken(err, !sent.Load())
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return c.refused(p, req, resp)
	}
	c.began(p)
	switch {
	case p.msg.Kind != jsonrpc.Request:
		if mediaType(resp) != EventStream {
			drain(resp.Body)
		}
		return nil
	case old:
		drain(resp.Body)
		<-p.ctx.Done() // the answer comes on the stream
		return nil
	}
	return c.read(p, resp)
}

// target returns where to send a message to, and whether that is the old transport's.
func (c *Conn) target(p *post) (to *url.URL, old bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.session = c.session
	if c.old != nil {
		return c.old, true
	}
	return c.url, false
}

func (c *Conn) setHeaders(req *http.Request, p *post) error {
	h := req.Header
	if err := c.setCommon(req); err != nil {
		return err
	}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, "+EventStream)
	switch {
	case p.era == mcpwire.Modern:
		p.setModern(h, &c.params)
	case p.method != mcpwire.Initialize:
		p.session.setHeaders(h)
	}
	return nil
}

// setCommon sets what every request to the server has.
func (c *Conn) setCommon(req *http.Request) error {
	for name, values := range c.o.Header {
		for _, value := range values {
			req.Header.Add(name, value)
		}
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	for _, name := range []string{"Host", HeaderVersion, HeaderSession, HeaderLastEvent, HeaderMethod, HeaderName} {
		req.Header.Del(name)
	}
	if c.o.Credential == nil {
		return nil
	}
	return c.o.Credential.Authorize(req.Context(), req.Header)
}

// sleep waits; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
