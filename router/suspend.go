package router

import (
	"slices"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Bounds on what waits for a modern client to come back: calls of the session, questions
// of a call, and bytes of all questions and of the answers that are kept.
const (
	maxSuspended      = 256
	maxQuestions      = 16
	maxSuspendedBytes = 32 << 20
)

// A suspended call goes on in a legacy server, but its modern client has no request
// open for it: that was answered with what the server asks. The client comes back
// with the answers, in a new request (resume.go).
type suspended struct {
	handle    handle
	from      *upstream.Upstream
	id        uint64 // of the call there
	bridge    *translation
	questions []inquiry   // without an answer, oldest first
	end       ending      // how the call has ended meanwhile; nil: it has not
	size      int         // bytes it keeps
	expiry    *time.Timer // of the client's patience
}

// An inquiry is a question of a legacy server's as a modern client gets it.
type inquiry struct {
	serverRequest
	ask inputreq.Ask
}

func (q *inquiry) size() int { return len(q.ask.Params) + len(q.ID()) }

// suspensions are the suspended calls of a session.
type suspensions struct {
	calls  map[handle]*suspended
	size   int
	who    *budget.Account // of the client
	closed bool            // the client is gone and does not come back for any
}

// fits reports whether so many bytes more may be kept.
func (all *suspensions) fits(size int) bool {
	return all.size+size <= maxSuspendedBytes && all.who.Room(budget.Bytes, int64(size))
}

func (all *suspensions) grow(p *suspended, size int) {
	p.size += size
	all.size += size
	all.who.Force(budget.Bytes, int64(size))
}

func (all *suspensions) add(p *suspended) {
	if all.calls == nil {
		all.calls = map[handle]*suspended{}
	}
	all.calls[p.handle] = p
}

// remove makes a call one that is not suspended any more.
func (all *suspensions) remove(p *suspended) {
	p.expiry.Stop()
	p.bridge.suspended = nil
	delete(all.calls, p.handle)
	all.size -= p.size
	all.who.Give(budget.Bytes, int64(p.size))
}

// suspendLocked answers the client's request with the server's questions.
func (s *Session) suspendLocked(u *upstream.Upstream, id uint64, c *upstream.Call, questions []inquiry, out *peer.Outgoing) {
	p := &suspended{handle: newCallID(), from: u, id: id, bridge: translationOf(c), questions: questions}
	p.expiry = time.AfterFunc(stateLife, func() { s.giveUpOn(p) })
	s.input.suspensions.add(p)
	asks := make([]inputreq.Ask, len(questions))
	for i := range questions {
		asks[i] = questions[i].ask
		s.input.suspensions.grow(p, questions[i].size())
	}
	p.bridge.asked++
	p.bridge.suspended, p.bridge.turn = p, turn{}
	s.sendAsks(c, asks, s.stateFor(p.bridge.about, stateResume, p.handle), out)
}

// stateFor signs a state that is good from now on.
func (s *Session) stateFor(about requestHash, kind stateKind, h handle) string {
	return s.r.signer.signState(requestState{kind, h, s.Clock.Now() + int64(stateLife)}, about, s.Who.Principal)
}

// sendAsks answers a modern client's request with what it has to answer first.
func (s *Session) sendAsks(c *upstream.Call, asks []inputreq.Ask, state string, out *peer.Outgoing) {
	s.Send(out, inputreq.AppendInputRequired(nil, c.ID(), asks, state), tracing.Note{ID: c.TraceID, Method: c.Method, Name: c.Name()})
}

// enqueueLocked keeps what the server asks further during a call that is suspended.
func (s *Session) enqueueLocked(p *suspended, q inquiry, out *peer.Outgoing) {
	if len(p.questions) >= maxQuestions || !s.input.suspensions.fits(q.size()) {
		refuseAsk(&q.serverRequest, jsonrpc.CodeInternalError, "too many requests wait for answers of the client", out)
		return
	}
	p.bridge.asked++
	p.questions = append(p.questions, q)
	s.input.suspensions.grow(p, q.size())
}

// retract drops questions that their server has taken back. The client may still answer
// them, which goes nowhere.
func (s *Session) retract(match func(serverRequest) bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, p := range s.input.suspensions.calls {
		p.questions = slices.DeleteFunc(p.questions, func(q inquiry) bool { return match(q.serverRequest) })
	}
}

// giveUpOn gives up a call whose client has had its time.
func (s *Session) giveUpOn(p *suspended) {
	var out peer.Outgoing
	s.Mu.Lock()
	if s.input.suspensions.calls[p.handle] == p {
		s.dismissLocked(p, "the client did not come back with answers in time", &out)
	}
	s.Mu.Unlock()
	out.Flush()
}

// dismissLocked gives up a call whose client does not come back.
func (s *Session) dismissLocked(p *suspended, why string, out *peer.Outgoing) {
	s.input.suspensions.remove(p)
	refuseAll(p.questions, why, out)
	if c, ok := p.from.CallOff(p.id, why, out); ok {
		c.Audited.End(audit.Cancelled)
	}
}

// refuseAll answers questions that the client does not.
func refuseAll(questions []inquiry, why string, out *peer.Outgoing) {
	for i := range questions {
		refuseAsk(&questions[i].serverRequest, jsonrpc.CodeInternalError, why, out)
	}
}

// endSuspensionsLocked gives up all suspended calls: the client is gone.
func (s *Session) endSuspensionsLocked(out *peer.Outgoing) {
	s.input.suspensions.closed = true
	for _, p := range s.input.suspensions.calls {
		s.dismissLocked(p, "the client is gone", out)
	}
}
