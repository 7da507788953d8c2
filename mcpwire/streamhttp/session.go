package streamhttp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
)

const (
	maxSessionID = 1 << 10
	maxStanding  = 10_000
	standingURI  = "uri:" // and the URI: the key of a subscription among Conn.standing
)

// A session is what a legacy server and its client have agreed on. The zero session is
// none.
type session struct {
	number  int    // counts the sessions of a connection
	id      string // the server's name for it; "": it gave none
	version string // of the protocol
}

func (s session) setHeaders(h http.Header) {
	if s.id != "" {
		h.Set(httpheader.Session, s.id)
	}
	if s.version != "" {
		h.Set(httpheader.Version, s.version)
	}
}

// inSession reports whether a message was sent as part of a session that has a name.
func (p *post) inSession() bool {
	return p.session.id != "" && p.era != mcpwire.Modern && p.method != mcpwire.Initialize
}

func (c *Conn) current() session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// note takes what the transport has to know out of a result that passes by.
func (c *Conn) note(p *post, m *jsonrpc.Message, h http.Header) *failure {
	if p.era != mcpwire.Legacy {
		return nil
	}
	switch p.method {
	case mcpwire.Initialize:
		return c.begin(m, h)
	case mcpwire.SetLevel, mcpwire.Subscribe, mcpwire.Unsubscribe:
		c.stand(p)
	}
	return nil
}

// begin starts a session with the answer to initialize.
func (c *Conn) begin(m *jsonrpc.Message, h http.Header) *failure {
	id := h.Get(httpheader.Session)
	if id != "" && (len(id) > maxSessionID || !httpheader.Visible(id)) {
		return &failure{text: c.where + ": the server names the session in a way that cannot be repeated to it; its " + httpheader.Session + " has to be visible ASCII"}
	}
	version, _ := m.Get(m.Result, "protocolVersion")
	text := string(m.Text(version))
	if !httpheader.Visible(text) {
		text = ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.welcome = session{c.session.number + 1, id, text}, bytes.Clone(m.Bytes(m.Result))
	return nil
}

// stand remembers a request whose effect a new session has to have, too.
func (c *Conn) stand(p *post) {
	key := string(mcpwire.SetLevel)
	if p.method != mcpwire.SetLevel {
		uri, err := p.msg.Param("uri")
		if err != nil {
			return
		}
		key = standingURI + string(p.msg.Text(uri))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.method == mcpwire.Unsubscribe {
		delete(c.standing, key)
	} else if len(c.standing) < maxStanding {
		c.standing[key] = p.frame
	}
}

// revive makes a new session in place of one that the server has forgotten, and reports
// whether there is one. What was agreed on in the old one is said again.
func (c *Conn) revive(p *post) bool {
	c.reviving.Lock()
	defer c.reviving.Unlock()
	c.mu.Lock()
	was, hello, initialized := c.session, c.hello, c.initialized
	c.mu.Unlock()
	if was.number != p.session.number {
		return true // another message has seen to it
	}
	m, f := c.ask(p.ctx, hello)
	if f == nil && !m.Result.Present() {
		f = refusal(m)
	}
	if f != nil {
		c.o.Log("the server has forgotten the session and begins no other: " + f.text)
		return false
	}
	if now := c.current(); now.version != was.version {
		c.o.Log("the server has forgotten the session, and now speaks revision " + sanitize.Cut(now.version, 32) + "; toolman has to be started anew")
		return false
	}
	if initialized != nil {
		if _, f := c.ask(p.ctx, initialized); f != nil {
			c.o.Log("the server has forgotten the session and begins no other: " + f.text)
			return false
		}
	}
	c.restate(p.ctx)
	c.followSoon()
	go c.tellMissed()
	return true
}

// restate says again what a session has to know.
func (c *Conn) restate(ctx context.Context) {
	c.mu.Lock()
	var frames [][]byte
	for _, frame := range c.standing {
		frames = append(frames, frame)
	}
	c.mu.Unlock()
	for _, frame := range frames {
		if _, f := c.ask(ctx, frame); f != nil {
			c.o.Log("in the new session the server refuses what it took before: " + f.text)
		}
	}
}

// leave ends a connection in good order.
func (c *Conn) leave(drained <-chan struct{}, s session) {
	select {
	case <-drained:
	case <-time.After(goodbye):
	case <-c.ctx.Done():
	}
	if s.id != "" {
		c.delete(s)
	}
	c.end(io.EOF)
}

// delete tells the server that a session is over; some take no such thing.
func (c *Conn) delete(s session) {
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.address(), nil)
	if err != nil || c.setCommon(req) != nil {
		return
	}
	s.setHeaders(req.Header)
	if resp, err := c.client.Do(req); err == nil {
		drain(resp.Body)
		resp.Body.Close()
	}
}
