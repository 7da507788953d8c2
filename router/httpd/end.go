package httpd

import (
	"net/http"
	"time"

	"toolman/mcpwire"
)

// EndStreams ends what stays open between calls, GET streams and subscriptions, because
// toolman ends. There are no new sessions from then on. It does not wait.
func (e *Endpoint) EndStreams() {
	for _, s := range e.sessions.close() {
		s.endListening()
	}
}

// lastBytes is how long the last bytes of streams may take.
const lastBytes = 250 * time.Millisecond

// Close ends all sessions, and waits a moment for streams to end. What is still open is
// cut off by the end of the program.
func (e *Endpoint) Close() {
	for _, s := range e.sessions.close() {
		e.end(s)
	}
	const look = 2 * time.Millisecond
	for range lastBytes / look {
		if e.tails.Load() == 0 {
			return
		}
		time.Sleep(look)
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
