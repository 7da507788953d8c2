package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"toolman/mcpwire/sse"
)

// endpointTime is how long a server of the old transport may take to say where to POST to.
const endpointTime = 10 * time.Second

// notStreamable reports whether initialize failed the way it does at a server that only
// speaks the HTTP+SSE transport of 2024-11-05 (2025-11-25, Transports, Backwards
// Compatibility).
func (f *failure) notStreamable() bool {
	modern := f.code <= -32020 && f.code >= -32099
	return !modern && (f.status == http.StatusBadRequest || f.status == http.StatusNotFound || f.status == http.StatusMethodNotAllowed)
}

// fallBack tries the old transport: a stream on which everything comes, and whose first
// event says where to send to.
func (c *Conn) fallBack(p *post) bool {
	ctx, cancel := context.WithCancel(c.ctx)
	limit := time.AfterFunc(endpointTime, cancel)
	resp, f := c.get(ctx, session{}, "")
	if f != nil {
		cancel()
		return false
	}
	r := sse.NewReader(resp.Body, c.o.FrameLimit)
	endpoint, err := c.endpoint(r)
	if err != nil || !limit.Stop() {
		if err != nil && p.ctx.Err() == nil {
			c.o.Log(c.where + ": " + err.Error())
		}
		cancel()
		resp.Body.Close()
		return false
	}
	c.mu.Lock()
	c.old = endpoint
	c.mu.Unlock()
	go func() {
		defer cancel()
		c.events(nil, r, resp.Header)
		resp.Body.Close()
		c.failAll()
		c.end(errors.New("the server has closed its stream"))
	}()
	return true
}

// endpoint reads the first event of the old transport.
func (c *Conn) endpoint(r *sse.Reader) (*url.URL, error) {
	e, err := r.Next()
	if err != nil || e.Name != "endpoint" {
		return nil, errors.New("the server's stream does not begin as that of the transport of 2024-11-05 does")
	}
	u, err := c.url.Parse(string(e.Data))
	if err != nil || !sameOrigin(u, c.url) {
		return nil, errors.New("the server wants messages to be sent to another origin, which is not done")
	}
	return u, nil
}

// failAll answers all who wait when the old transport's stream is gone.
func (c *Conn) failAll() {
	c.mu.Lock()
	var open []*post
	for _, p := range c.open {
		open = append(open, p)
	}
	c.mu.Unlock()
	for _, p := range open {
		f := c.lost(errStreamEnded)
		c.fail(p, f)
		p.cancel()
	}
}

var errStreamEnded = errors.New("the server has closed its stream")
