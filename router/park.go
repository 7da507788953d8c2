package router

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
)

// A parked request waits for the upstreams to start.
type parked struct {
	frame []byte
	came  int64  // when it came, if calls are timed
	n     uint64 // its correlation number in the trace
}

func (p parked) size() int { return len(p.frame) }

// Bounds on what waits: how many requests of the client, and how many bytes on
// either side. One request may wait whatever its size.
const (
	parkLimit = 4096
	waitBytes = 64 << 20
)

// tooMuch reports whether what waits already leaves no room for size bytes more.
func tooMuch[T interface{ size() int }](waiting []T, size int) bool {
	return len(waiting) > 0 && sizeOf(waiting)+size > waitBytes
}

func sizeOf[T interface{ size() int }](waiting []T) (size int) {
	for _, w := range waiting {
		size += w.size()
	}
	return size
}

func (s *Session) parkLocked(m *jsonrpc.Message, b *jsonrpc.Batch, method mcpwire.Method) {
	if len(s.parked) >= parkLimit || tooMuch(s.parked, len(m.Frame)) {
		s.refuse(m, b, method, refusal{code: jsonrpc.CodeInternalError, verdict: string(audit.Busy),
			text: "too many requests while " + s.busyLocked() + "; wait for the answers and send it again"})
		return
	}
	name, _, _ := mcpwire.Target(m, method)
	s.parked = append(s.parked, parked{bytes.Clone(m.Frame), s.came, s.arrivedLocked(m, method, name)})
}

// busyLocked says what requests wait for.
func (s *Session) busyLocked() string {
	if s.chore != nil {
		return "a toolset is read or written"
	}
	return "the upstream servers start"
}

// unparkLocked drops a request that still waits, and returns its correlation
// number.
func (s *Session) unparkLocked(id []byte) (n uint64, ok bool) {
	var m jsonrpc.Message
	for i, p := range s.parked {
		if jsonrpc.Scan(p.frame, &m) == nil && bytes.Equal(m.Bytes(m.ID), id) {
			s.parked = append(s.parked[:i], s.parked[i+1:]...)
			return p.n, true
		}
	}
	return 0, false
}

// release serves the requests that have waited.
func (s *Session) release() {
	var b jsonrpc.Batch
	s.mu.Lock()
	s.unparkAllLocked(func(m *jsonrpc.Message, method mcpwire.Method) { s.whenOpenLocked(m, &b, method) })
	s.mu.Unlock()
	b.Flush()
}

// unparkAllLocked has every request that waits handled as if it came now, but that
// it came before.
func (s *Session) unparkAllLocked(handle func(m *jsonrpc.Message, method mcpwire.Method)) {
	waited := s.parked
	s.parked = nil
	for _, p := range waited {
		s.unparkOneLocked(p, handle)
	}
}

// unparkOneLocked has one request handled as it came.
func (s *Session) unparkOneLocked(p parked, handle func(m *jsonrpc.Message, method mcpwire.Method)) {
	var m jsonrpc.Message
	if jsonrpc.Scan(p.frame, &m) == nil && s.considerLocked(&m) == nil {
		s.came, s.n = p.came, p.n
		handle(&m, mcpwire.MethodOf(m.Text(m.Method)))
		s.n = 0
	}
}

// arrivedLocked traces a request of the client and returns its correlation number.
// One that has waited was traced when it came.
func (s *Session) arrivedLocked(m *jsonrpc.Message, method mcpwire.Method, name jsonrpc.Span) uint64 {
	if s.n != 0 {
		return s.n
	}
	n := s.r.trace.next()
	s.r.trace.request(clientLeg, s.name(), m, n, method, name)
	return n
}
