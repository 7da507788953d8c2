package router

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/tracing"
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

// overBytes reports whether what waits already leaves no room for size bytes more.
func overBytes[T interface{ size() int }](waiting []T, size int) bool {
	return len(waiting) > 0 && sizeOf(waiting)+size > waitBytes
}

func sizeOf[T interface{ size() int }](waiting []T) (size int) {
	for _, w := range waiting {
		size += w.size()
	}
	return size
}

func (s *Session) parkLocked(req *request) {
	if len(s.waiting.parked) >= parkLimit || overBytes(s.waiting.parked, len(req.Frame)) {
		s.refuse(req, refusal{code: jsonrpc.CodeInternalError, verdict: string(audit.Busy),
			text: "too many requests while " + s.busyLocked() + "; wait for the answers and send it again"})
		return
	}
	s.waiting.parked = append(s.waiting.parked, s.keepLocked(req))
}

// keepLocked returns a request as one that waits.
func (s *Session) keepLocked(req *request) parked {
	name, _, _ := mcpwire.Target(req.Message, req.method)
	return parked{bytes.Clone(req.Frame), req.arrivedAt, s.traceArrivalLocked(req, name)}
}

// request reads the request again. It was read when it came, so it can be.
func (p *parked) request(out *peer.Outgoing) *request {
	req, _ := readRequest(p.frame, out)
	req.arrivedAt, req.traceID = p.came, p.n
	return req
}

// is reports whether a request has this ID.
func (p *parked) is(id []byte) bool {
	var m jsonrpc.Message
	return jsonrpc.Scan(p.frame, &m) == nil && bytes.Equal(m.Bytes(m.ID), id)
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

// traceArrivalLocked traces a request of the client and returns its correlation number.
// One that has waited was traced when it came.
func (s *Session) traceArrivalLocked(req *request, name jsonrpc.Span) uint64 {
	if req.traceID == 0 {
		req.traceID = s.r.trace.Next()
		s.r.trace.Request(tracing.Client, s.name(), req.Message, req.traceID, req.method, name)
	}
	return req.traceID
}
