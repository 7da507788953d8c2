package httpd

import (
	"net/http"

	"toolman/mcpwire"
)

// EndStreams ends what stays open between calls, GET streams and subscriptions, because
// toolman ends. There are no new sessions from then on. It does not wait.
func (e *Endpoint) EndStreams() {
	for _, s := range e.sessions.close() {
		s.endListening()
	}
}

// Close ends all sessions. What is still open is cut off.
func (e *Endpoint) Close() {
	for _, s := range e.sessions.close() {
		e.end(s)
	}
}

// endListening ends GET streams and, in good order, subscriptions (2026-07-28, Subscriptions:
// the server sends the result).
func (s *session) endListening() {
	if s.push != nil {
		s.push.end()
	}
	for _, c := range s.listens() {
		s.cancel(c)
		c.to.answer(mcpwire.AppendListenEnd(nil, c.id), 1, http.StatusOK)
	}
}

// listens returns the requests that have opened subscriptions.
func (s *session) listens() (all []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.method == mcpwire.Listen {
			all = append(all, c)
		}
	}
	return all
}
