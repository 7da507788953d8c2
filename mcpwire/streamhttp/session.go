package streamhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

const (
	maxSessionID  = 1 << 10
	maxReplayable = 10_000
	keyURI        = "uri:" // followed by the URI: the key of a subscription in legacySession.replayable
)

// A session is a session with a legacy server. The zero session is none.
type session struct {
	number int // of the session on this connection
	endpoint.Session
}

// A legacySession is the state of the session with a legacy server, and all that is needed to begin
// another one. Conn.mu guards it.
type legacySession struct {
	current      session
	initialize   []byte             // the request
	result       []byte             // of initialize
	initialized  []byte             // the notification
	replayable   map[string][]byte  // requests whose effect lasts as long as a session
	cancelStream context.CancelFunc // ends the GET stream
}

// sent keeps the messages of the handshake.
func (s *legacySession) sent(p *post) {
	switch {
	case p.era != mcpwire.Legacy:
	case p.method == mcpwire.Initialize:
		s.initialize = p.frame
	case p.method == mcpwire.Initialized:
		s.initialized = p.frame
	}
}

// remember keeps a request that has to be repeated in a new session.
func (s *legacySession) remember(p *post) {
	key := string(p.method)
	if p.method != mcpwire.SetLevel {
		uri, err := p.msg.Param("uri")
		if err != nil {
			return
		}
		key = keyURI + string(p.msg.Text(uri))
	}
	if p.method == mcpwire.Unsubscribe {
		delete(s.replayable, key)
	} else if len(s.replayable) < maxReplayable {
		s.replayable[key] = p.frame
	}
}

// recordResult updates the session after a result of a legacy server.
func (c *Conn) recordResult(p *post, m *jsonrpc.Message, h http.Header) *endpoint.Failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case p.changesSession():
		c.session.remember(p)
	case p.method == mcpwire.Initialize:
		return c.session.begin(m, h)
	}
	return nil
}

// begin starts a session with the answer to initialize.
func (s *legacySession) begin(m *jsonrpc.Message, h http.Header) *endpoint.Failure {
	id := h.Get(httpheader.Session)
	if id != "" && (len(id) > maxSessionID || !httpheader.Visible(id)) {
		return &endpoint.Failure{Text: "the server's header " + httpheader.Session + " cannot be used; it must be at most 1,024 bytes of visible ASCII"}
	}
	at, _ := m.Get(m.Result, "protocolVersion")
	version := string(m.Text(at))
	if !httpheader.Visible(version) {
		version = ""
	}
	s.current = session{s.current.number + 1, endpoint.Session{ID: id, Version: version}}
	s.result = bytes.Clone(m.Bytes(m.Result))
	return nil
}

// revive replaces a session that the server has lost, and repeats the requests that changed it. It
// reports whether there is another session now.
func (c *Conn) revive(ctx context.Context, forgotten session) bool {
	c.reviving.Lock()
	defer c.reviving.Unlock()
	c.mu.Lock()
	was := c.session.current
	handshake := [][]byte{c.session.initialize}
	if c.session.initialized != nil {
		handshake = append(handshake, c.session.initialized)
	}
	frames := slices.AppendSeq(handshake, maps.Values(c.session.replayable))
	c.mu.Unlock()
	if was.number != forgotten.number {
		return true // another message did it
	}
	for i, frame := range frames {
		m, f := c.ask(ctx, frame)
		if f == nil && m != nil && !m.Result.Present() {
			f = endpoint.RPCFailure(m)
		}
		c.mu.Lock()
		version := c.session.current.Version
		c.mu.Unlock()
		switch {
		case f != nil && i >= len(handshake):
			c.o.Log("the server refuses a request in the new session that it accepted in the old one: " + c.explain(f))
		case f != nil:
			c.o.Log("the server has lost the session and does not begin a new one: " + c.explain(f))
			return false
		case version != was.Version:
			c.o.Log("the server has lost the session and now speaks revision " + sanitize.Cut(version, 32) + "; restart toolman")
			return false
		}
	}
	c.openStream()
	go c.synthesizeMissed()
	return true
}

var listChanges = [...]struct {
	capability string
	method     mcpwire.Method
}{{"tools", mcpwire.ToolsListChanged}, {"resources", mcpwire.ResourcesListChanged}, {"prompts", mcpwire.PromptsListChanged}}

// synthesizeMissed delivers the notifications that a legacy server may have sent while there was no
// stream: its lists and the subscribed resources may have changed.
func (c *Conn) synthesizeMissed() {
	var frames [][]byte
	var r mcpwire.InitializeResult
	c.mu.Lock()
	if json.Unmarshal(c.session.result, &r) == nil {
		for _, of := range listChanges {
			if r.OffersFlag(of.capability, "listChanged") {
				frames = append(frames, jsonrpc.AppendNotification(nil, string(of.method), nil))
			}
		}
	}
	for key := range c.session.replayable {
		if uri, ok := strings.CutPrefix(key, keyURI); ok {
			params := append(jsonrpc.AppendQuoted([]byte(`{"uri":`), uri), '}')
			frames = append(frames, jsonrpc.AppendNotification(nil, string(mcpwire.ResourceUpdated), params))
		}
	}
	c.mu.Unlock()
	c.in.frames(frames...)
}

// missedBy returns the notifications that a subscription may have missed: all that its filter
// selects.
func missedBy(p *post) (frames [][]byte) {
	filter, _ := mcpwire.ParseFilter(&p.msg)
	id := []byte(p.id)
	for _, of := range listChanges {
		if filter.Wants(of.method) {
			frames = append(frames, mcpwire.AppendListChanged(nil, id, of.method))
		}
	}
	for _, uri := range filter.ResourceSubscriptions {
		frames = append(frames, mcpwire.AppendUpdated(nil, id, uri))
	}
	return frames
}
