package input

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/calls"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Limits on what waits for a modern client: suspended calls of the session, questions of a call,
// and bytes of all questions and stored answers.
const (
	maxSuspended      = 256
	maxQuestions      = 16
	maxSuspendedBytes = 32 << 20
)

// A suspended call is open at a legacy server, while its modern client has no request open for it:
// toolman answered that request with the server's questions. The client sends the answers in a new
// request.
type suspended struct {
	handle      handle
	from        *upstream.Upstream
	id          uint64 // of the call at the server
	translation *translation
	questions   []question  // unanswered, oldest first
	completion  completion  // set if the call has ended; nil: it has not
	size        int         // bytes that it keeps
	expiry      *time.Timer // abandons the call
}

// A question is a legacy server's request in the form in which a modern client receives it.
type question struct {
	serverRequest
	ask inputreq.Ask
}

func (q *question) size() int { return len(q.ask.Params) + len(q.ID()) }

// suspensions are the suspended calls of a session.
type suspensions struct {
	calls   map[handle]*suspended
	size    int
	account *budget.Account // the client's
	closed  bool            // the client has disconnected
}

// fits reports whether size more bytes may be kept.
func (all *suspensions) fits(size int) bool {
	return all.size+size <= maxSuspendedBytes && all.account.Room(budget.Bytes, int64(size))
}

// reserve adds size bytes to those that p keeps.
func (all *suspensions) reserve(p *suspended, size int) {
	p.size += size
	all.size += size
	all.account.Force(budget.Bytes, int64(size))
}

func (all *suspensions) add(p *suspended) {
	if all.calls == nil {
		all.calls = map[handle]*suspended{}
	}
	all.calls[p.handle] = p
}

// remove ends the suspension of a call.
func (all *suspensions) remove(p *suspended) {
	p.expiry.Stop()
	p.translation.suspended = nil
	delete(all.calls, p.handle)
	all.size -= p.size
	all.account.Give(budget.Bytes, int64(p.size))
}

// askDuringCall asks a modern client what a legacy server requests during a call. It reports false
// when no such call is open. No message says to which of several calls a request belongs, so
// askDuringCall uses the newest.
func (s *Requests) askDuringCall(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) bool {
	u := q.from
	if !s.Peer.Modern || u.Source.Modern || !inputreq.AsksClient(mcpwire.Method(q.method)) {
		return false
	}
	id, c := s.newestCall(u, true)
	if id == 0 {
		return false
	}
	UpdateIDs(&c)
	ask, err := inputreq.AskOf(m, strconv.Itoa(translationOf(&c).asked))
	switch {
	case err != nil:
		refuseAsk(q, jsonrpc.CodeInvalidParams, err.Error(), out)
	case ask.Params == nil && ask.Method != mcpwire.ListRoots:
		refuseAsk(q, jsonrpc.CodeInvalidParams, "params must be an object", out)
	case s.suspensions.closed:
		refuseAsk(q, jsonrpc.CodeInternalError, "the client is gone", out)
	default:
		s.askOrSuspend(u, id, &c, question{*q, ask}, out)
	}
	return true
}

// askOrSuspend suspends the call with this question, or adds the question to its suspension.
func (s *Requests) askOrSuspend(u *upstream.Upstream, id uint64, c *calls.Call, q question, out *peer.Outgoing) {
	switch {
	case s.endIfLacking(u, id, c, &q, out):
	case translationOf(c).suspended != nil:
		s.enqueue(translationOf(c).suspended, q, out)
	case len(s.suspensions.calls) >= maxSuspended || !s.suspensions.fits(q.size()):
		const why = "too many calls wait for answers of the client"
		refuseAsk(&q.serverRequest, jsonrpc.CodeInternalError, why, out)
		s.BreakOff(u, id, why, s.Failure(why+", so this one was cancelled; answer the others first", audit.Failed), out)
	default:
		s.suspend(u, id, c, []question{q}, out)
	}
}

// endIfLacking ends a call if the server requests something for which the client has not declared
// the capability. It reports whether the call was ended.
func (s *Requests) endIfLacking(u *upstream.Upstream, id uint64, c *calls.Call, q *question, out *peer.Outgoing) bool {
	lacking := inputreq.Lacks(translationOf(c).capabilities, q.ask.Method, q.ask.Params)
	if lacking == "" {
		return false
	}
	refuseAsk(&q.serverRequest, jsonrpc.CodeMethodNotFound, "the client has not declared the capability "+lacking, out)
	s.BreakOff(u, id, "the client cannot be asked what the server asks", s.refusal(missingCapability(u, lacking)), out)
	return true
}

// missingCapability returns the refusal of a call whose client lacks a capability that the server
// needs.
func missingCapability(u *upstream.Upstream, lacking string) *mcpwire.Refusal {
	return mcpwire.MissingCapability(lacking, fmt.Sprintf("server %s needs of the client, for this call, a capability that it has not declared: %s", u.Name, lacking))
}

// refusal returns the completion that sends an error that the specification prescribes.
func (s *Requests) refusal(why *mcpwire.Refusal) completion {
	return func(c calls.Call, out *peer.Outgoing) {
		s.Send(out, why.Append(nil, c.ID()), tracing.Note{ID: c.TraceID, Method: c.Method})
	}
}

// suspend answers the client's request with the server's questions.
func (s *Requests) suspend(u *upstream.Upstream, id uint64, c *calls.Call, questions []question, out *peer.Outgoing) {
	p := &suspended{handle: newHandle(), from: u, id: id, translation: translationOf(c), questions: questions}
	p.expiry = time.AfterFunc(stateLifetime, func() { s.expire(p) })
	s.suspensions.add(p)
	asks := make([]inputreq.Ask, len(questions))
	for i := range questions {
		asks[i] = questions[i].ask
		s.suspensions.reserve(p, questions[i].size())
	}
	p.translation.asked++
	p.translation.suspended, p.translation.current = p, clientRequest{}
	s.sendAsks(c, asks, s.stateFor(p.translation.about, stateResume, p.handle), out)
}

// stateFor returns a signed request state that is valid for stateLifetime.
func (s *Requests) stateFor(about RequestHash, kind stateKind, h handle) string {
	return s.signer.signState(requestState{kind, h, s.Clock.Now() + int64(stateLifetime)}, about, s.Info.Principal)
}

// sendAsks answers a modern client's request with the questions that it must answer first.
func (s *Requests) sendAsks(c *calls.Call, asks []inputreq.Ask, state string, out *peer.Outgoing) {
	s.Send(out, inputreq.AppendInputRequired(nil, c.ID(), asks, state), tracing.Note{ID: c.TraceID, Method: c.Method, Name: c.Name()})
}

// enqueue adds a question that the server asks during a suspended call.
func (s *Requests) enqueue(p *suspended, q question, out *peer.Outgoing) {
	if len(p.questions) >= maxQuestions || !s.suspensions.fits(q.size()) {
		refuseAsk(&q.serverRequest, jsonrpc.CodeInternalError, "too many requests wait for answers of the client", out)
		return
	}
	p.translation.asked++
	p.questions = append(p.questions, q)
	s.suspensions.reserve(p, q.size())
}

// dropQuestions removes questions that their server has cancelled. toolman ignores answers that the
// client still sends.
func (s *Requests) dropQuestions(match func(serverRequest) bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, p := range s.suspensions.calls {
		p.questions = slices.DeleteFunc(p.questions, func(q question) bool { return match(q.serverRequest) })
	}
}

// askURLs asks the client to have its user visit the URLs that a legacy server's error names. The
// call has ended; toolman makes it again when the client repeats its request.
func (s *Requests) askURLs(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message, out *peer.Outgoing) error {
	asks, err := inputreq.URLAsks(m)
	if err != nil {
		return err
	}
	for _, ask := range asks {
		if lacking := inputreq.Lacks(translationOf(c).capabilities, ask.Method, ask.Params); lacking != "" {
			s.refusal(missingCapability(u, lacking))(*c, out)
			return nil
		}
	}
	state := s.stateFor(translationOf(c).about, stateRepeat, newHandle())
	if c.Entry.NeedsConfirmation() {
		s.Mu.Lock()
		s.AllowRetry(translationOf(c).about, c.Entry, []byte(state), true)
		s.Mu.Unlock()
	}
	s.sendAsks(c, asks, state, out)
	return nil
}

// The reasons for rejecting a retry. A retry must not run a tool a second time, so the client must
// explicitly make a new call.
var (
	errUnknownState = &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: "params.requestState was not given for this request with these arguments; send it back as it was, or make the call anew without inputResponses and requestState"}
	ErrStaleState = &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("the call that params.requestState stands for is over, was answered already, or has waited longer than %.0f minutes; make it anew without inputResponses and requestState", stateLifetime.Minutes())}
)

// resume handles a request that contains answers to questions. It reports whether the request must
// be forwarded as a new call.
func (s *Requests) resume(req *client.Request, c *calls.Call, about RequestHash, retry *inputreq.Retry) bool {
	state, ok := s.signer.verifyState(req.Text(retry.State.Value), about, s.Info.Principal)
	if !ok {
		s.Decline(req, errUnknownState)
		return false
	}
	p := s.suspensions.calls[state.handle]
	switch {
	case state.expires < s.Clock.Now():
		s.Decline(req, ErrStaleState)
	case state.kind == stateRepeat:
		return s.urlConsented(req, c, retry)
	case p == nil:
		s.Decline(req, ErrStaleState)
	default:
		s.continueCall(req, c, p, retry)
	}
	return false
}

// urlConsented reports whether the user has agreed to visit all URLs.
func (s *Requests) urlConsented(req *client.Request, c *calls.Call, retry *inputreq.Retry) bool {
	for answer := range req.Walk(retry.Responses.Value) {
		if action, err := req.Get(answer.Value, "action"); err != nil || string(req.Text(action)) != "accept" {
			s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Declined), Text: "the server wants the user to visit a URL first, and the user has not agreed; nothing was done"})
			return false
		}
	}
	return true
}

// continueCall sends the client's answers to the server. From now on the request waits for the
// suspended call.
func (s *Requests) continueCall(req *client.Request, c *calls.Call, p *suspended, retry *inputreq.Retry) {
	answers := make([]jsonrpc.Span, len(p.questions))
	for i := range answers {
		var err error
		if answers[i], err = retry.Response(req.Message, p.questions[i].ask.Key); err != nil {
			s.DeclineError(req, err)
			return
		}
	}
	name, _, _ := mcpwire.Target(req.Message, c.Method)
	s.suspensions.remove(p)
	c.TraceID = s.TraceArrival(req, name)
	c.Context = p.translation
	p.translation.current = clientRequest{c.IDs, c.Logs, c.TraceID}
	p.translation.capabilities = bytes.Clone(req.Bytes(req.Envelope.Capabilities.Value))
	var left []question
	for i := range answers {
		q := &p.questions[i]
		if !answers[i].Present() {
			left = append(left, *q)
			continue
		}
		result := jsonrpc.AppendResult(nil, q.ID(), req.Bytes(answers[i]))
		refuseUnsent(&q.serverRequest, p.from.SendFrame(req.Out, result, tracing.Note{ID: q.traceID, Method: q.ask.Method}), req.Out)
	}
	s.resumeSuspended(c, p, left, req.Out)
}

// resumeSuspended answers the resuming request if it need not wait: with the result of the call or
// with the remaining questions.
func (s *Requests) resumeSuspended(c *calls.Call, p *suspended, left []question, out *peer.Outgoing) {
	if p.completion != nil {
		refuseAll(left, "the call is over", out)
		p.completion(*c, out)
		return
	}
	for i := range left {
		if s.endIfLacking(p.from, p.id, c, &left[i], out) {
			refuseAll(append(left[:i:i], left[i+1:]...), "the call is over", out)
			return
		}
	}
	if len(left) > 0 {
		s.suspend(p.from, p.id, c, left, out)
	}
}

// expire abandons a call whose client has not resumed it in time.
func (s *Requests) expire(p *suspended) {
	s.WithLock(func(out *peer.Outgoing) {
		if s.suspensions.calls[p.handle] == p {
			s.abandon(p, "the client did not answer in time", out)
		}
	})
}

// endSuspensions abandons all suspended calls because the client has disconnected.
func (s *Requests) endSuspensions(out *peer.Outgoing) {
	s.suspensions.closed = true
	for _, p := range s.suspensions.calls {
		s.abandon(p, "the client is gone", out)
	}
}

// abandon cancels a call that its client does not resume.
func (s *Requests) abandon(p *suspended, why string, out *peer.Outgoing) {
	s.suspensions.remove(p)
	refuseAll(p.questions, why, out)
	if c, ok := p.from.Calls.CancelCall(p.id, why, out); ok {
		c.Audited.End(audit.Cancelled)
	}
}

// refuseAll refuses questions that the client does not answer.
func refuseAll(questions []question, why string, out *peer.Outgoing) {
	for i := range questions {
		refuseAsk(&questions[i].serverRequest, jsonrpc.CodeInternalError, why, out)
	}
}

// BreakOff ends a call at the server and at the client.
func (s *Requests) BreakOff(u *upstream.Upstream, id uint64, reason string, end completion, out *peer.Outgoing) {
	if c, ok := u.Calls.CancelCall(id, reason, out); ok {
		c.Audited.Fail(audit.Failed, reason)
		Conclude(&c, end, out)
	}
}
