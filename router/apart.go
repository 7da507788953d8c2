package router

import (
	"context"
	"time"

	"toolman/jsonrpc"
	"toolman/router/audit"
)

// apartTime bounds what a request may take of the disk.
const apartTime = 3 * time.Second

// A chore is what is done apart for a request: on a goroutine of its own, because
// it waits for the disk. What the client asks after it waits too, so that it sees what
// the request did.
type chore struct {
	parked
	dropped bool // nobody waits for the answer any more
}

// What a chore ends with: the request's answer.
type finish func(req *request)

// apartLocked has work done apart, and then what it returns with the request, as if
// that came now.
func (s *Session) apartLocked(req *request, work func(ctx context.Context) finish) {
	e := &chore{parked: s.keepLocked(req)}
	s.chore = e
	go func() {
		ctx, cancel := context.WithTimeout(s.r.ctx, apartTime)
		defer cancel()
		s.back(e, work(ctx))
	}()
}

// back serves the request of a chore, and then those that waited for it.
func (s *Session) back(e *chore, answer finish) {
	var b jsonrpc.Batch
	s.mu.Lock()
	s.chore = nil
	if !e.dropped {
		answer(e.request(&b))
	}
	s.unparkAllLocked(&b, s.whenOpenLocked)
	s.mu.Unlock()
	b.Flush()
}

// dropChoreLocked forgets the request of a chore that was cancelled, and returns
// its correlation number. What is being done is done.
func (s *Session) dropChoreLocked(id []byte) (n uint64, ok bool) {
	e := s.chore
	if e == nil || e.dropped || !e.is(id) {
		return 0, false
	}
	e.dropped = true
	s.decideOwnLocked(e.request(nil), e.n).End(audit.Cancelled)
	return e.n, true
}

// endChoreLocked answers the request of a chore that cannot be waited for.
func (s *Session) endChoreLocked(b *jsonrpc.Batch, answer func(*request)) {
	if e := s.chore; e != nil && !e.dropped {
		e.dropped = true
		req := e.request(b)
		s.decideOwnLocked(req, e.n).End(audit.Cancelled)
		answer(req)
	}
}
