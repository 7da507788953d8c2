package streamhttp

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
)

// headStart is how long before its cancellation a request is written to a server that does not
// react to it: the two take different connections, and a server passes over the cancellation of
// a request that it has not read yet.
const headStart = 100 * time.Millisecond

// request sends a request and ensures that it is answered.
func (c *Conn) request(p *post) {
	if c.enter(p) && p.ready() {
		if f := c.deliver(p); f != nil {
			c.fail(p, f)
		}
	}
	if p.slot {
		<-c.slots
	}
	c.finish(p)
	p.cancel()
}

// enter waits until a request may be under way; false when nobody wants it any more.
func (c *Conn) enter(p *post) bool {
	if p.method == mcpwire.Listen {
		return true
	}
	select {
	case c.slots <- struct{}{}:
		p.slot = true
	case <-p.ctx.Done():
	}
	return p.slot
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
	if f := c.deliver(p); f != nil {
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
	if p.cancelled != nil && p.ctx.Err() == nil {
		select {
		case <-p.reacted:
		case <-time.After(time.Until(p.cancelled.writtenAt.Add(headStart))):
		case <-p.ctx.Done():
		}
	}
	return p.ctx.Err() == nil
}

// deliver sends a message, and repeats that as often as is right. It returns why it failed; nil
// also when the message was cancelled.
func (c *Conn) deliver(p *post) *failure {
	for {
		f := c.attempt(p)
		if f == nil || p.ctx.Err() != nil {
			return nil
		}
		if f.reopened {
			p.tries = 0
		}
		wait, again := c.again(p, f, p.tries)
		if !again {
			return f
		}
		if !sleep(p.ctx, wait) {
			return nil
		}
		p.tries++
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
	req := newRequest(ctx, to, p.frame)
	if err := c.setHeaders(req, p); err != nil {
		return &failure{text: c.where + ": " + err.Error()}
	}
	resp, err := c.do(req)
	if err != nil {
		return c.broken(err, !sent.Load())
	}
	if resp.StatusCode/100 == 2 {
		c.began(p)
		if p.msg.Kind == jsonrpc.Request && !old && httpheader.MediaType(resp.Header) == httpheader.EventStream {
			return c.readStream(p, resp)
		}
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode/100 != 2:
		return c.refused(p, req, resp)
	case p.msg.Kind != jsonrpc.Request:
		if httpheader.MediaType(resp.Header) != httpheader.EventStream {
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

// newRequest is http.NewRequestWithContext for a URL that is parsed already.
func newRequest(ctx context.Context, to *url.URL, frame []byte) *http.Request {
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(frame)), nil }
	req := &http.Request{Method: http.MethodPost, URL: to, Host: to.Host, Header: http.Header{},
		ContentLength: int64(len(frame)), GetBody: body}
	req.Body, _ = body()
	return req.WithContext(ctx)
}

// target returns where to send a message to, and whether that is the old transport's.
func (c *Conn) target(p *post) (to *url.URL, old bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.session = c.session
	if c.old != nil {
		return c.old, true
	}
	return c.place, false
}

func (c *Conn) setHeaders(req *http.Request, p *post) error {
	h := req.Header
	if err := c.setCommon(req); err != nil {
		return err
	}
	h.Set("Content-Type", httpheader.JSON)
	h.Set("Accept", httpheader.JSON+", "+httpheader.EventStream)
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
	maps.Copy(req.Header, c.header)
	if c.host != "" {
		req.Host = c.host
	}
	if c.o.Credential == nil {
		return nil
	}
	return c.o.Credential.Authorize(req.Context(), req.Header)
}

// commonHeader is what of a configuration's headers goes with every request to a URL, and the
// host that they name, "" for none. What belongs to the transport is left out. The values are
// shared: there is no room behind them to append to.
func commonHeader(configured http.Header, to *url.URL) (h http.Header, host string) {
	h = http.Header{}
	for name, values := range configured {
		for _, value := range values {
			h.Add(name, value)
		}
	}
	host = h.Get("Host")
	for _, name := range []string{"Host", "Content-Length", "Transfer-Encoding", "Trailer",
		httpheader.Version, httpheader.Session, httpheader.LastEvent, httpheader.Method, httpheader.Name} {
		h.Del(name)
	}
	if to.User != nil && h.Get("Authorization") == "" {
		password, _ := to.User.Password()
		(&http.Request{Header: h}).SetBasicAuth(to.User.Username(), password)
	}
	for name, values := range h {
		h[name] = slices.Clip(values)
	}
	return h, host
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
