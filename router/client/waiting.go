package client

import (
	"bytes"
	"context"
	"slices"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
)

// A Deferred is a request that waits for the upstreams to start.
type Deferred struct {
	frame     []byte
	arrivedAt int64  // see Request.ArrivedAt
	TraceID   uint64 // correlation number in the trace
	byModel   bool   // see Request.ByModel
	parked    bool   // it waits for one upstream, and no other request waits for it
}

// Size returns the size of the request in bytes.
func (p Deferred) Size() int { return len(p.frame) }

// Defer returns a Deferred for a request, and traces the request.
func (s *Conn) Defer(req *Request) Deferred {
	name, _, _ := mcpwire.Target(req.Message, req.Method)
	return Deferred{bytes.Clone(req.Frame), req.ArrivedAt, s.TraceArrival(req, name), req.ByModel, false}
}

// Request reads the request again, which cannot fail.
func (p *Deferred) Request(out *peer.Outgoing) *Request {
	req, _ := ReadRequest(p.frame, out)
	req.ArrivedAt, req.TraceID, req.ByModel = p.arrivedAt, p.TraceID, p.byModel
	return req
}

// Is reports whether the request has this ID.
func (p *Deferred) Is(id []byte) bool {
	var m jsonrpc.Message
	return jsonrpc.Scan(p.frame, &m) == nil && bytes.Equal(m.Bytes(m.ID), id)
}

// Waiting contains the requests of a client that wait until the upstreams have started, those that
// wait for one upstream, and those of background tasks. Conn.Mu guards it.
type Waiting struct {
	*Conn
	Context  context.Context // ends when the router closes
	Serve    func(*Request)  // serves a request that has waited; it may wait again
	deferred []Deferred
	tasks    []*backgroundTask // that have not ended
}

// maxDeferred is the maximum number of the client's requests that wait.
const maxDeferred = 4096

// Blocks reports whether requests must wait for earlier ones.
func (s *Waiting) Blocks() bool {
	return s.tasksBlock() || len(s.deferred) > 0 && slices.ContainsFunc(s.deferred, func(p Deferred) bool { return !p.parked })
}

// tasksBlock reports whether requests must wait for a background task.
func (s *Waiting) tasksBlock() bool {
	return len(s.tasks) > 0 && slices.ContainsFunc(s.tasks, func(e *backgroundTask) bool { return !e.aside })
}

// Deferred returns the number of requests that wait, without those of background tasks.
func (s *Waiting) Deferred() int { return len(s.deferred) }

// Len returns the number of requests that have no answer yet.
func (s *Waiting) Len() int {
	n := len(s.deferred)
	for _, e := range s.tasks {
		if !e.dropped {
			n++
		}
	}
	return n
}

// Add stores a request until it can be served, or refuses it if too many requests wait.
func (s *Waiting) Add(req *Request) { s.add(req, false) }

// Park is Add for a request that only one upstream has to be ready for. Later requests do not wait
// for it.
func (s *Waiting) Park(req *Request) { s.add(req, true) }

func (s *Waiting) add(req *Request, parked bool) {
	if len(s.deferred) >= maxDeferred || OverBytes(s.deferred, len(req.Frame)) {
		s.Refuse(req, Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy),
			Text: "too many requests while " + s.reason() + "; wait for the answers and send it again"})
		return
	}
	p := s.Defer(req)
	p.parked = parked
	s.deferred = append(s.deferred, p)
}

// reason returns what requests wait for.
func (s *Waiting) reason() string {
	if s.tasksBlock() {
		return "a toolset is read or written"
	}
	return "the upstream servers start"
}

// ServeAll serves the requests that wait; they may wait again. Conn.Mu must not be held.
func (s *Waiting) ServeAll() {
	s.WithLock(func(out *peer.Outgoing) { s.pass(out, s.Serve) })
}

// pass passes every request that waits to handle. The requests keep their arrival times.
func (s *Waiting) pass(out *peer.Outgoing, handle func(*Request)) {
	waited := s.deferred
	s.deferred = nil
	for _, p := range waited {
		handle(p.Request(out))
	}
}

// Drop removes the request with this ID because the client has cancelled it, and returns its trace
// ID. The work of a background task continues.
func (s *Waiting) Drop(id []byte) (n uint64, ok bool) {
	for i, p := range s.deferred {
		if p.Is(id) {
			s.deferred = append(s.deferred[:i], s.deferred[i+1:]...)
			return p.TraceID, true
		}
	}
	for _, e := range s.tasks {
		if !e.dropped && e.Is(id) {
			s.drop(e, nil)
			return e.TraceID, true
		}
	}
	return 0, false
}

// Abandon passes all requests to answer. The ends of background tasks are not awaited.
func (s *Waiting) Abandon(out *peer.Outgoing, answer func(*Request)) {
	s.endBackground(out, answer)
	s.pass(out, answer)
}

// Forget forgets all requests, which need no answers any more.
func (s *Waiting) Forget() {
	s.deferred = nil
	s.endBackground(nil, func(*Request) {})
}

// backgroundTimeout limits the disk access of a request.
const backgroundTimeout = 3 * time.Second

// A backgroundTask is work for a request. It runs on its own goroutine.
type backgroundTask struct {
	Deferred
	aside   bool               // later requests do not wait for it
	dropped bool               // the request needs no answer any more
	cancel  context.CancelFunc // ends the work if it can be ended
}

// A Completion answers the request of a background task.
type Completion func(req *Request)

// RunInBackground runs work that waits for the disk on another goroutine, and then the completion
// that work returns. Later requests of the client wait for it, so that they see its effect.
func (s *Waiting) RunInBackground(req *Request, work func(ctx context.Context) Completion) {
	s.start(req, &backgroundTask{cancel: func() {}}, func() Completion {
		ctx, cancel := context.WithTimeout(s.Context, backgroundTimeout)
		defer cancel()
		return work(ctx)
	})
}

// maxAside is the maximum number of tasks, with which no further one runs aside.
const maxAside = 64

// RunAside is RunInBackground for work that may take long. Later requests do not wait for it, and
// ctx ends when the request needs no answer any more.
func (s *Waiting) RunAside(req *Request, work func(ctx context.Context) Completion) {
	if len(s.tasks) >= maxAside {
		s.Refuse(req, Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy),
			Text: "too many such requests are open; wait for the answers and send it again"})
		return
	}
	ctx, cancel := context.WithCancel(s.Context)
	s.start(req, &backgroundTask{aside: true, cancel: cancel}, func() Completion {
		defer cancel()
		return work(ctx)
	})
}

// start runs the work of a task. Then it answers the request, and serves the requests that waited
// for that.
func (s *Waiting) start(req *Request, e *backgroundTask, work func() Completion) {
	e.Deferred = s.Defer(req)
	s.tasks = append(s.tasks, e)
	go func() {
		answer := work()
		s.WithLock(func(out *peer.Outgoing) {
			s.tasks = slices.DeleteFunc(s.tasks, func(other *backgroundTask) bool { return other == e })
			if !e.dropped {
				answer(e.Request(out))
			}
			if !e.aside {
				s.pass(out, s.Serve)
			}
		})
	}()
}

// drop records that the request of a task needs no other answer.
func (s *Waiting) drop(e *backgroundTask, out *peer.Outgoing) *Request {
	e.dropped = true
	e.cancel()
	req := e.Request(out)
	s.BeginOwnAudit(req, e.TraceID).End(audit.Cancelled)
	return req
}

// endBackground answers the requests of background tasks whose ends are not awaited.
func (s *Waiting) endBackground(out *peer.Outgoing, answer func(*Request)) {
	for _, e := range s.tasks {
		if !e.dropped {
			answer(s.drop(e, out))
		}
	}
}
