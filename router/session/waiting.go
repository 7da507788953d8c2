package session

import (
	"context"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/client"
)

// maxDeferred is the maximum number of the client's requests that wait.
const maxDeferred = 4096

// deferLocked stores a request until it can be served, or refuses it if too many requests wait.
func (s *Session) deferLocked(req *client.Request) {
	if len(s.waiting.deferred) >= maxDeferred || client.OverBytes(s.waiting.deferred, len(req.Frame)) {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy),
			Text: "too many requests while " + s.waitReasonLocked() + "; wait for the answers and send it again"})
		return
	}
	s.waiting.deferred = append(s.waiting.deferred, s.Defer(req))
}

// waitReasonLocked returns what requests wait for.
func (s *Session) waitReasonLocked() string {
	if s.waiting.background != nil {
		return "a toolset is read or written"
	}
	return "the upstream servers start"
}

// dropDeferredLocked removes the deferred request with this ID and returns its trace ID.
func (s *Session) dropDeferredLocked(id []byte) (n uint64, ok bool) {
	for i, p := range s.waiting.deferred {
		if p.Is(id) {
			s.waiting.deferred = append(s.waiting.deferred[:i], s.waiting.deferred[i+1:]...)
			return p.TraceID, true
		}
	}
	return 0, false
}

// ServeDeferred serves the deferred requests.
func (s *Session) ServeDeferred() {
	s.WithLock(func(out *peer.Outgoing) {
		s.serveDeferredLocked(out, s.serveWhenReadyLocked)
	})
}

// serveDeferredLocked passes every deferred request to handle. The requests keep their arrival
// times.
func (s *Session) serveDeferredLocked(out *peer.Outgoing, handle func(*client.Request)) {
	waited := s.waiting.deferred
	s.waiting.deferred = nil
	for _, p := range waited {
		handle(p.Request(out))
	}
}

// backgroundTimeout limits the disk access of a request.
const backgroundTimeout = 3 * time.Second

// A backgroundTask is work for a request that waits for the disk. It runs on its own goroutine.
// Later requests of the client wait for it, so that they see its effect.
type backgroundTask struct {
	client.Deferred
	dropped bool // the request needs no answer any more
}

// A completion answers the request of a background task.
type completion func(req *client.Request)

// runInBackgroundLocked runs work on another goroutine and then the completion that work returns.
func (s *Session) runInBackgroundLocked(req *client.Request, work func(ctx context.Context) completion) {
	e := &backgroundTask{Deferred: s.Defer(req)}
	s.waiting.background = e
	go func() {
		ctx, cancel := context.WithTimeout(s.env.Context, backgroundTimeout)
		defer cancel()
		s.completeBackground(e, work(ctx))
	}()
}

// completeBackground answers the request of a background task and serves the requests that waited
// for it.
func (s *Session) completeBackground(e *backgroundTask, answer completion) {
	s.WithLock(func(out *peer.Outgoing) {
		s.waiting.background = nil
		if !e.dropped {
			answer(e.Request(out))
		}
		s.serveDeferredLocked(out, s.serveWhenReadyLocked)
	})
}

// dropBackgroundLocked drops the request of a background task because the client has cancelled it,
// and returns its trace ID. The work itself continues.
func (s *Session) dropBackgroundLocked(id []byte) (n uint64, ok bool) {
	e := s.waiting.background
	if e == nil || e.dropped || !e.Is(id) {
		return 0, false
	}
	e.dropped = true
	s.BeginOwnAudit(e.Request(nil), e.TraceID).End(audit.Cancelled)
	return e.TraceID, true
}

// endBackgroundLocked answers the request of a background task whose end is not awaited.
func (s *Session) endBackgroundLocked(out *peer.Outgoing, answer func(*client.Request)) {
	if e := s.waiting.background; e != nil && !e.dropped {
		e.dropped = true
		req := e.Request(out)
		s.BeginOwnAudit(req, e.TraceID).End(audit.Cancelled)
		answer(req)
	}
}
