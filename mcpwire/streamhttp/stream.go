package streamhttp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

const (
	openTime     = time.Second      // how long the first requests of a session wait for its stream
	endpointTime = 10 * time.Second // how long a server of the transport of 2024-11-05 may take to name its endpoint
	streamPause  = time.Second      // before a stream that ended is opened again
	maxRetry     = 60 * time.Second // the longest pause that a server may ask for
	maxResumes   = 6                // tries in a row without an event
	steady       = 10 * time.Second // after a stream that lasted so long, the pauses start from the shortest again
)

// A position says where and when a stream continues.
type position struct {
	lastID string
	retry  time.Duration // that the server asked for; 0: none
}

// advance moves the position to the end of a stream.
func (x *position) advance(r *httpbody.EventReader) (moved bool) {
	if r.Retry() > 0 {
		x.retry = r.Retry()
	}
	if moved = r.LastID() != ""; moved {
		x.lastID = r.LastID()
	}
	return moved
}

// wait returns how long to wait before the stream is opened again.
func (x *position) wait(tries int) time.Duration {
	return min(max(cmp.Or(x.retry, streamPause), pause(tries)), maxRetry)
}

// resume continues the stream of a request on another connection (2025-11-25, Transports,
// Resumability and Redelivery).
func (c *Conn) resume(p *post, at position) *endpoint.Failure {
	for tries := 0; tries < maxResumes; tries++ {
		if !sleep(p.ctx, at.wait(tries)) {
			return nil
		}
		resp, f := c.server.Get(p.ctx, p.session.Session, at.lastID)
		switch {
		case p.ctx.Err() != nil:
			return nil
		case f != nil && (f.Status == 0 || f.Transient):
			continue
		case f != nil:
			f.Text += "; the stream broke off before the response, and the server may have executed the request"
			f.RPC, f.Status = nil, 0
			return f
		}
		r := httpbody.NewEventReader(resp.Body, c.o.FrameLimit)
		answered, f := c.events(p, r, resp.Header)
		resp.Body.Close()
		if answered || f != nil {
			return f
		}
		if at.advance(r) {
			tries = -1
		}
	}
	return endpoint.Lost(io.ErrUnexpectedEOF)
}

// openStream opens the GET stream of the session that has begun, and ends that of the one before.
// On it a legacy server sends the messages that belong to no request. What it sends before the
// stream is open is lost, so openStream waits for a while until the stream is open or the server
// has refused it.
func (c *Conn) openStream() {
	if c.server.AnswersOnStream() {
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	was, s := c.session.cancelStream, c.session.current
	c.session.cancelStream = cancel
	c.mu.Unlock()
	if was != nil {
		was()
	}
	first, tried := context.WithTimeout(c.ctx, openTime)
	go c.holdStream(ctx, s, tried)
	<-first.Done()
}

// holdStream keeps a session's stream open as long as the server offers one. It calls tried after
// the first try.
func (c *Conn) holdStream(ctx context.Context, s session, tried func()) {
	var at position
	opened, lost := false, false
	for tries := 0; ; tries++ {
		resp, f := c.server.Get(ctx, s.Session, at.lastID)
		tried()
		switch {
		case ctx.Err() != nil:
			return
		case f != nil && f.Status == http.StatusNotFound && opened:
			c.revive(ctx, s)
			return
		case f != nil && f.Ended:
			c.expire(f)
			return
		case f != nil && f.Status != 0 && !f.Transient:
			return // the server offers no stream (405)
		case f == nil:
			if lost && at.lastID == "" {
				c.synthesizeMissed() // the server does not repeat what it has sent meanwhile
			}
			opened = true
			since, r := time.Now(), httpbody.NewEventReader(resp.Body, c.o.FrameLimit)
			c.events(nil, r, resp.Header)
			resp.Body.Close()
			at.advance(r)
			if at.lastID != "" || time.Since(since) >= steady {
				tries = 0
			}
		}
		lost = true
		if !sleep(ctx, at.wait(tries)) {
			return
		}
	}
}

var errStreamEnded = errors.New("the server has closed its stream")

// fallBack tries the transport of 2024-11-05: the server sends everything on one stream, whose
// first event has the URL for messages.
func (c *Conn) fallBack(p *post) bool {
	ctx, cancel := context.WithCancel(c.ctx)
	limit := time.AfterFunc(endpointTime, cancel)
	resp, f := c.server.Get(ctx, endpoint.Session{}, "")
	if f != nil {
		cancel()
		return false
	}
	r := httpbody.NewEventReader(resp.Body, c.o.FrameLimit)
	err := errors.New("the server's stream does not begin with an endpoint event, as in the transport of 2024-11-05")
	if e, readErr := r.Next(); readErr == nil && e.Name == "endpoint" && limit.Stop() {
		err = c.server.UseMessages(string(e.Data))
	}
	if err != nil {
		if p.ctx.Err() == nil {
			c.o.Log(c.server.String() + ": " + err.Error())
		}
		cancel()
		resp.Body.Close()
		return false
	}
	go func() {
		defer cancel()
		c.events(nil, r, resp.Header)
		resp.Body.Close()
		c.failAll()
		c.end(errStreamEnded)
	}()
	return true
}

// failAll responds to the open requests when the stream of the transport of 2024-11-05 has ended.
func (c *Conn) failAll() {
	c.mu.Lock()
	open := slices.Collect(maps.Values(c.out.open))
	c.mu.Unlock()
	for _, p := range open {
		c.fail(p, endpoint.Lost(errStreamEnded))
		p.cancel()
	}
}
