package router

import (
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/client"
)

// parkLimit is how many requests of the client wait.
const parkLimit = 4096

func (s *Session) parkLocked(req *client.Request) {
	if len(s.waiting.parked) >= parkLimit || client.OverBytes(s.waiting.parked, len(req.Frame)) {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy),
			Text: "too many requests while " + s.busyLocked() + "; wait for the answers and send it again"})
		return
	}
	s.waiting.parked = append(s.waiting.parked, s.Defer(req))
}

// busyLocked says what requests wait for.
func (s *Session) busyLocked() string {
	if s.waiting.background != nil {
		return "a toolset is read or written"
	}
	return "the upstream servers start"
}

// unparkLocked drops a request that still waits, and returns its correlation
// number.
func (s *Session) unparkLocked(id []byte) (n uint64, ok bool) {
	for i, p := range s.waiting.parked {
		if p.Is(id) {
			s.waiting.parked = append(s.waiting.parked[:i], s.waiting.parked[i+1:]...)
			return p.TraceID, true
		}
	}
	return 0, false
}

// Unpark serves the requests that have waited.
func (s *Session) Unpark() {
	var out peer.Outgoing
	s.Mu.Lock()
	s.unparkAllLocked(&out, s.whenOpenLocked)
	s.Mu.Unlock()
	out.Flush()
}

// unparkAllLocked has every request that waits handled as if it came now, but that
// it came before.
func (s *Session) unparkAllLocked(out *peer.Outgoing, handle func(*client.Request)) {
	waited := s.waiting.parked
	s.waiting.parked = nil
	for _, p := range waited {
		handle(p.Request(out))
	}
}
