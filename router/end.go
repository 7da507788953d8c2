package router

import (
	"io"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/upstream"
)

// Pending returns how many requests of the client are not answered yet.
func (s *Session) Pending() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n := len(s.waiting.parked) + len(s.waiting.replies) + s.input.Held().Rounds + len(s.logLevel.pending)
	if s.waiting.background != nil && !s.waiting.background.dropped {
		n++
	}
	for _, u := range s.servers.Reachable() {
		pending := func(c *upstream.Call) {
			if c.Caller == upstream.Caller(s) && input.Current(c) {
				n++
			}
		}
		u.EachCall(func(_ uint64, c upstream.Call) { pending(&c) })
		u.EachQueued(pending)
	}
	return n
}

// Abandon answers what is still pending: toolman ends.
func (s *Session) Abandon() {
	const why = "toolman is ending because its client closed the connection; this was not answered in time"
	var out peer.Outgoing
	s.Mu.Lock()
	refuse := func(req *client.Request) {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Text: why, Ending: true})
	}
	s.abandonLogLevelsLocked(&out, refuse)
	s.endBackgroundLocked(&out, refuse)
	s.unparkAllLocked(&out, refuse)
	s.input.FailRounds(func(*upstream.Upstream, *catalog.Entry) string { return why }, audit.Cancelled, &out)
	upstreams := s.servers.Reachable()
	s.Mu.Unlock()
	for _, u := range upstreams {
		for _, c := range append(u.TakeQueued(s.made), u.TakeCalls(s.made, &out)...) {
			s.Lost(c, why, audit.Cancelled, &out)
		}
	}
	out.Flush()
}

// End ends a session while the router goes on: its client has said so, or is not heard
// of any more. What it has under way is cancelled, and hears nothing any more.
func (s *Session) End() {
	s.Closed(io.EOF)
	s.env.Host.Ended(s)
	var out peer.Outgoing
	s.Mu.Lock()
	s.waiting.parked, s.logLevel.pending = nil, nil
	s.endBackgroundLocked(nil, func(*client.Request) {})
	s.subscriptions.Clear(&out)
	s.servers.Disown()
	s.FreeAll()
	upstreams := s.servers.Reachable()
	s.Mu.Unlock()
	for _, u := range upstreams {
		for _, c := range append(u.TakeQueued(s.made), u.CallOffAll(s.made, "the client is gone", &out)...) {
			c.Audited.End(audit.Cancelled)
		}
	}
	out.Flush()
}

// made reports whether a call is the session's.
func (s *Session) made(c *upstream.Call) bool { return c.Caller == upstream.Caller(s) }

// Shutdown ends the client's subscriptions in good order, and the session's own servers: toolman ends.
func (s *Session) Shutdown() {
	s.subscriptions.End()
	s.servers.ReleaseAll()
}
