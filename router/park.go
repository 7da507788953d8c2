package router

import (
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/audit"
)

// parkLimit is how many requests of the client wait.
const parkLimit = 4096

func (s *Session) parkLocked(req *request) {
	if len(s.waiting.parked) >= parkLimit || overBytes(s.waiting.parked, len(req.Frame)) {
		s.refuse(req, refusal{code: jsonrpc.CodeInternalError, verdict: string(audit.Busy),
			text: "too many requests while " + s.busyLocked() + "; wait for the answers and send it again"})
		return
	}
	s.waiting.parked = append(s.waiting.parked, s.keepLocked(req))
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
		if p.is(id) {
			s.waiting.parked = append(s.waiting.parked[:i], s.waiting.parked[i+1:]...)
			return p.n, true
		}
	}
	return 0, false
}

// release serves the requests that have waited.
func (s *Session) release() {
	var out peer.Outgoing
	s.mu.Lock()
	s.unparkAllLocked(&out, s.whenOpenLocked)
	s.mu.Unlock()
	out.Flush()
}

// unparkAllLocked has every request that waits handled as if it came now, but that
// it came before.
func (s *Session) unparkAllLocked(out *peer.Outgoing, handle func(*request)) {
	waited := s.waiting.parked
	s.waiting.parked = nil
	for _, p := range waited {
		handle(p.request(out))
	}
}
