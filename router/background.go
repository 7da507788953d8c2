package router

import (
	"context"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/client"
)

// backgroundTime bounds what a request may take of the disk.
const backgroundTime = 3 * time.Second

// A backgroundTask is what is done apart for a request: on a goroutine of its own, because
// it waits for the disk. What the client asks after it waits too, so that it sees what
// the request did.
type backgroundTask struct {
	client.Deferred
	dropped bool // nobody waits for the answer any more
}

// What a background task ends with: the request's answer.
type completion func(req *client.Request)

// runInBackgroundLocked has work done apart, and then what it returns with the request, as if
// that came now.
func (s *Session) runInBackgroundLocked(req *client.Request, work func(ctx context.Context) completion) {
	e := &backgroundTask{Deferred: s.Defer(req)}
	s.waiting.background = e
	go func() {
		ctx, cancel := context.WithTimeout(s.env.Context, backgroundTime)
		defer cancel()
		s.completeBackground(e, work(ctx))
	}()
}

// completeBackground serves the request of a background task, and then those that waited for it.
func (s *Session) completeBackground(e *backgroundTask, answer completion) {
	var out peer.Outgoing
	s.Mu.Lock()
	s.waiting.background = nil
	if !e.dropped {
		answer(e.Request(&out))
	}
	s.unparkAllLocked(&out, s.whenOpenLocked)
	s.Mu.Unlock()
	out.Flush()
}

// dropBackgroundLocked forgets the request of a background task that was cancelled, and returns
// its correlation number. What is being done is done.
func (s *Session) dropBackgroundLocked(id []byte) (n uint64, ok bool) {
	e := s.waiting.background
	if e == nil || e.dropped || !e.Is(id) {
		return 0, false
	}
	e.dropped = true
	s.DecideOwn(e.Request(nil), e.TraceID).End(audit.Cancelled)
	return e.TraceID, true
}

// endBackgroundLocked answers the request of a background task that cannot be waited for.
func (s *Session) endBackgroundLocked(out *peer.Outgoing, answer func(*client.Request)) {
	if e := s.waiting.background; e != nil && !e.dropped {
		e.dropped = true
		req := e.Request(out)
		s.DecideOwn(req, e.TraceID).End(audit.Cancelled)
		answer(req)
	}
}
