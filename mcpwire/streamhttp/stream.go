package streamhttp

import (
	"context"
	"io"
	"net/http"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sse"
)

const (
	streamPause = time.Second      // before a stream that ended is opened again
	maxRetry    = 60 * time.Second // the longest that a server may have a client wait
	maxResumes  = 6                // tries in a row that bring nothing
	steady      = 10 * time.Second // how long a stream is open that is opened again without more ado
)

// get opens a stream of a session.
func (c *Conn) get(ctx context.Context, s session, lastID string) (*http.Response, *failure) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address(), nil)
	if err == nil {
		err = c.setCommon(req)
	}
	if err != nil {
		return nil, &failure{text: c.where + ": " + err.Error()}
	}
	req.Header.Set("Accept", httpheader.EventStream)
	s.setHeaders(req.Header)
	if lastID != "" {
		req.Header.Set(httpheader.LastEvent, lastID)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, c.broken(err, false)
	}
	kind := httpheader.MediaType(resp.Header)
	switch {
	case resp.StatusCode/100 != 2:
		defer resp.Body.Close()
		return nil, c.refused(&post{session: s, renewed: true}, req, resp)
	case kind != httpheader.EventStream:
		defer resp.Body.Close()
		return nil, c.notMCP(resp, kind)
	}
	return resp, nil
}

// resume goes on with the answer to a request on another connection, behind the event that
// came last (2025-11-25, Transports, Resumability and Redelivery).
func (c *Conn) resume(p *post, lastID string, retry time.Duration) *failure {
	for tries := 0; tries < maxResumes; tries++ {
		if !sleep(p.ctx, waitFor(retry, tries)) {
			return nil
		}
		resp, f := c.get(p.ctx, p.session, lastID)
		switch {
		case p.ctx.Err() != nil:
			return nil
		case f != nil && (f.status == 0 || f.passing):
			continue
		case f != nil:
			f.text += "; the stream with the answer broke off, and whether the request was carried out is not known"
			f.rpc, f.status = nil, 0
			return f
		}
		r := sse.NewReader(resp.Body, c.o.FrameLimit)
		answered, f := c.events(p, r, resp.Header)
		resp.Body.Close()
		if answered || f != nil {
			return f
		}
		if r.LastID() != "" {
			lastID, tries = r.LastID(), -1
		}
		if r.Retry() > 0 {
			retry = r.Retry()
		}
	}
	return c.lost(io.ErrUnexpectedEOF)
}

// waitFor is how long to wait before a stream is opened again.
func waitFor(retry time.Duration, tries int) time.Duration {
	if retry == 0 {
		retry = streamPause
	}
	return min(max(retry, pause(tries)), maxRetry)
}

// followTime is how long the first requests of a session wait for its stream.
const followTime = time.Second

// followSoon is follow, and comes back when the stream is open, or has not been for a while.
// Servers lose what they send on it before that, which may be what a call waits for.
func (c *Conn) followSoon() {
	limit := time.NewTimer(followTime)
	defer limit.Stop()
	select {
	case <-c.follow():
	case <-limit.C:
	case <-c.ctx.Done():
	}
}

// follow opens the stream of the session that has begun, on which a legacy server sends
// what belongs to no request, and ends that of the one before. What it returns is closed
// when the stream is open, or the server has none.
func (c *Conn) follow() (settled <-chan struct{}) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	was, old := c.hush, c.old != nil
	c.hush = cancel
	s := c.session
	c.mu.Unlock()
	if was != nil {
		was()
	}
	first := make(chan struct{})
	if old {
		close(first)
	} else {
		go c.listen(ctx, s, first)
	}
	return first
}

// listen holds a session's stream open as long as the server offers one. It closes first
// when the first try is decided.
func (c *Conn) listen(ctx context.Context, s session, first chan struct{}) {
	var lastID string
	var retry time.Duration
	opened, again := false, false
	for tries := 0; ; tries++ {
		resp, f := c.get(ctx, s, lastID)
		if first != nil {
			close(first)
			first = nil
		}
		switch {
		case ctx.Err() != nil:
			return
		case f != nil && f.status == http.StatusNotFound && opened:
			c.revive(&post{ctx: ctx, session: s})
			return
		case f != nil && f.status != 0 && !f.passing:
			return // it has none (405)
		case f == nil:
			if again && lastID == "" {
				c.tellMissed() // what was sent meanwhile does not come any more
			}
			opened = true
			since, r := time.Now(), sse.NewReader(resp.Body, c.o.FrameLimit)
			c.events(nil, r, resp.Header)
			resp.Body.Close()
			if r.LastID() != "" {
				lastID = r.LastID()
			}
			if lastID != "" || time.Since(since) >= steady {
				tries = 0
			}
			retry = r.Retry()
		}
		again = true
		if !sleep(ctx, waitFor(retry, tries)) {
			return
		}
	}
}

// acknowledged delivers that a subscription is open. When it had to be opened again, the
// handler is told instead that what it is about may have changed.
func (c *Conn) acknowledged(p *post, m *jsonrpc.Message) {
	if !p.opened {
		p.opened = true
		c.message(m)
		return
	}
	for _, frame := range missed(p) {
		c.frame(frame)
	}
}
