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
	"toolman/router/client"
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
// with the answers, in a new request.
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

// suspend answers the client's request with the server's questions.
func (s *Requests) suspend(u *upstream.Upstream, id uint64, c *upstream.Call, questions []inquiry, out *peer.Outgoing) {
	p := &suspended{handle: newCallID(), from: u, id: id, bridge: translationOf(c), questions: questions}
	p.expiry = time.AfterFunc(stateLife, func() { s.giveUpOn(p) })
	s.suspensions.add(p)
	asks := make([]inputreq.Ask, len(questions))
	for i := range questions {
		asks[i] = questions[i].ask
		s.suspensions.grow(p, questions[i].size())
	}
	p.bridge.asked++
	p.bridge.suspended, p.bridge.turn = p, turn{}
	s.sendAsks(c, asks, s.stateFor(p.bridge.about, stateResume, p.handle), out)
}

// stateFor signs a state that is good from now on.
func (s *Requests) stateFor(about requestHash, kind stateKind, h handle) string {
	return s.signer.signState(requestState{kind, h, s.Clock.Now() + int64(stateLife)}, about, s.Who.Principal)
}

// sendAsks answers a modern client's request with what it has to answer first.
func (s *Requests) sendAsks(c *upstream.Call, asks []inputreq.Ask, state string, out *peer.Outgoing) {
	s.Send(out, inputreq.AppendInputRequired(nil, c.ID(), asks, state), tracing.Note{ID: c.TraceID, Method: c.Method, Name: c.Name()})
}

// enqueue keeps what the server asks further during a call that is suspended.
func (s *Requests) enqueue(p *suspended, q inquiry, out *peer.Outgoing) {
	if len(p.questions) >= maxQuestions || !s.suspensions.fits(q.size()) {
		refuseAsk(&q.serverRequest, jsonrpc.CodeInternalError, "too many requests wait for answers of the client", out)
		return
	}
	p.bridge.asked++
	p.questions = append(p.questions, q)
	s.suspensions.grow(p, q.size())
}

// retract drops questions that their server has taken back. The client may still answer
// them, which goes nowhere.
func (s *Requests) retract(match func(serverRequest) bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, p := range s.suspensions.calls {
		p.questions = slices.DeleteFunc(p.questions, func(q inquiry) bool { return match(q.serverRequest) })
	}
}

// giveUpOn gives up a call whose client has had its time.
func (s *Requests) giveUpOn(p *suspended) {
	var out peer.Outgoing
	s.Mu.Lock()
	if s.suspensions.calls[p.handle] == p {
		s.dismiss(p, "the client did not come back with answers in time", &out)
	}
	s.Mu.Unlock()
	out.Flush()
}

// dismiss gives up a call whose client does not come back.
func (s *Requests) dismiss(p *suspended, why string, out *peer.Outgoing) {
	s.suspensions.remove(p)
	refuseAll(p.questions, why, out)
	if c, ok := p.from.CancelCall(p.id, why, out); ok {
		c.Audited.End(audit.Cancelled)
	}
}

// refuseAll answers questions that the client does not.
func refuseAll(questions []inquiry, why string, out *peer.Outgoing) {
	for i := range questions {
		refuseAsk(&questions[i].serverRequest, jsonrpc.CodeInternalError, why, out)
	}
}

// endSuspensions gives up all suspended calls: the client is gone.
func (s *Requests) endSuspensions(out *peer.Outgoing) {
	s.suspensions.closed = true
	for _, p := range s.suspensions.calls {
		s.dismiss(p, "the client is gone", out)
	}
}

// inquire asks a modern client what a legacy server asks during its call. It
// reports false when no such call is open. Nothing on the wire says to which of several
// calls a question belongs: the newest has it.
func (s *Requests) inquire(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) bool {
	u := q.from
	if !s.Peer.Modern || u.Source.Modern || !inputreq.AsksClient(mcpwire.Method(q.method)) {
		return false
	}
	id, c, ok := s.newest(u)
	if !ok {
		return false
	}
	ask, err := inputreq.AskOf(m, strconv.Itoa(translationOf(&c).asked))
	switch {
	case err != nil:
		refuseAsk(q, jsonrpc.CodeInvalidParams, err.Error(), out)
	case ask.Params == nil && ask.Method != mcpwire.ListRoots:
		refuseAsk(q, jsonrpc.CodeInvalidParams, "params must be an object", out)
	case s.suspensions.closed:
		refuseAsk(q, jsonrpc.CodeInternalError, "the client is gone", out)
	default:
		s.askDuring(u, id, &c, inquiry{*q, ask}, out)
	}
	return true
}

// newest returns the newest call, with this server, that a modern client can be
// asked during.
func (s *Requests) newest(u *upstream.Upstream) (id uint64, c upstream.Call, ok bool) {
	u.EachCall(func(at uint64, one upstream.Call) {
		if at > id && s.made(&one) && one.Modern && one.Context != nil {
			id, c, ok = at, one, true
		}
	})
	Current(&c)
	return id, c, ok
}

func (s *Requests) askDuring(u *upstream.Upstream, id uint64, c *upstream.Call, q inquiry, out *peer.Outgoing) {
	switch {
	case s.lacks(u, id, c, &q, out):
	case translationOf(c).suspended != nil:
		s.enqueue(translationOf(c).suspended, q, out)
	case len(s.suspensions.calls) >= maxSuspended || !s.suspensions.fits(q.size()):
		const why = "too many calls wait for answers of the client"
		refuseAsk(&q.serverRequest, jsonrpc.CodeInternalError, why, out)
		s.BreakOff(u, id, why, s.Failing(why+", so this one was cancelled; answer the others first", audit.Failed), out)
	default:
		s.suspend(u, id, c, []inquiry{q}, out)
	}
}

// lacks ends a call during which the server asks what the client has not declared
// that it can do. It reports whether that is so.
func (s *Requests) lacks(u *upstream.Upstream, id uint64, c *upstream.Call, q *inquiry, out *peer.Outgoing) bool {
	lacking := inputreq.Lacks(translationOf(c).capabilities, q.ask.Method, q.ask.Params)
	if lacking == "" {
		return false
	}
	refuseAsk(&q.serverRequest, jsonrpc.CodeMethodNotFound, "the client has not declared the capability "+lacking, out)
	s.BreakOff(u, id, "the client cannot be asked what the server asks", s.refusing(missing(u, lacking)), out)
	return true
}

// missing refuses a call of a client that cannot do what the server needs.
func missing(u *upstream.Upstream, lacking string) *mcpwire.Refusal {
	return mcpwire.MissingCapability(lacking, fmt.Sprintf("server %s needs of the client, for this call, a capability that it has not declared: %s", u.Name, lacking))
}

// refusing is the ending with an error that the specification prescribes.
func (s *Requests) refusing(why *mcpwire.Refusal) ending {
	return func(c upstream.Call, out *peer.Outgoing) {
		s.Send(out, why.Append(nil, c.ID()), tracing.Note{ID: c.TraceID, Method: c.Method})
	}
}

// BreakOff ends a call on both sides.
func (s *Requests) BreakOff(u *upstream.Upstream, id uint64, reason string, end ending, out *peer.Outgoing) {
	if c, ok := u.CancelCall(id, reason, out); ok {
		c.Audited.End(audit.Failed)
		Conclude(&c, end, out)
	}
}

// askURLs has the client send its user to the URLs that a legacy server's error names.
// The call is over there: it is made again when the client comes back.
func (s *Requests) askURLs(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, out *peer.Outgoing) error {
	asks, err := inputreq.URLAsks(m)
	if err != nil {
		return err
	}
	for _, ask := range asks {
		if lacking := inputreq.Lacks(translationOf(c).capabilities, ask.Method, ask.Params); lacking != "" {
			s.refusing(missing(u, lacking))(*c, out)
			return nil
		}
	}
	state := s.stateFor(translationOf(c).about, stateAgain, newCallID())
	if c.Entry.AsksFirst() {
		s.Mu.Lock()
		s.permit(translationOf(c).about, c.Entry, []byte(state), true)
		s.Mu.Unlock()
	}
	s.sendAsks(c, asks, state, out)
	return nil
}

// Why a retry goes nowhere. It must not run a tool a second time, so that the client
// has to say that it wants that.
var (
	errStrangeState = &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: "params.requestState was not given for this request with these arguments; send it back as it was, or make the call anew without inputResponses and requestState"}
	errStaleState = &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("the call that params.requestState stands for is over, was answered already, or has waited longer than %.0f minutes; make it anew without inputResponses and requestState", stateLife.Minutes())}
)

// resume deals with a request that answers what its client was asked. It reports
// true when the request is to be passed on like any other.
func (s *Requests) resume(req *client.Request, c *upstream.Call, about requestHash, retry *inputreq.Retry) bool {
	state, ok := s.signer.verifyState(req.Text(retry.State.Value), about, s.Who.Principal)
	if !ok {
		s.Decline(req, errStrangeState)
		return false
	}
	p := s.suspensions.calls[state.handle]
	switch {
	case state.expires < s.Clock.Now():
		s.Decline(req, errStaleState)
	case state.kind == stateAgain:
		return s.urlConsented(req, c, retry)
	case p == nil:
		s.Decline(req, errStaleState)
	default:
		s.continueCall(req, c, p, retry)
	}
	return false
}

// urlConsented reports whether the user has agreed to visit all URLs.
func (s *Requests) urlConsented(req *client.Request, c *upstream.Call, retry *inputreq.Retry) bool {
	for answer := range req.Walk(retry.Responses.Value) {
		if action, err := req.Get(answer.Value, "action"); err != nil || string(req.Text(action)) != "accept" {
			s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Declined), Text: "the server wants the user to visit a URL first, and the user has not agreed to; nothing was done"})
			return false
		}
	}
	return true
}

// continueCall gives the server what it has asked for. The request waits for the
// suspended call from now on.
func (s *Requests) continueCall(req *client.Request, c *upstream.Call, p *suspended, retry *inputreq.Retry) {
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
	c.Context = p.bridge
	p.bridge.turn = turn{c.IDs, c.Logs, c.TraceID}
	p.bridge.capabilities = bytes.Clone(req.Bytes(req.Envelope.Capabilities.Value))
	var left []inquiry
	for i := range answers {
		q := &p.questions[i]
		if !answers[i].Present() {
			left = append(left, *q)
			continue
		}
		result := jsonrpc.AppendResult(nil, q.ID(), req.Bytes(answers[i]))
		answered(&q.serverRequest, p.from.SendFrame(req.Out, result, tracing.Note{ID: q.n, Method: q.ask.Method}), req.Out)
	}
	s.resumeSuspended(c, p, left, req.Out)
}

// resumeSuspended answers the request that has come back, if it has not to wait: with the
// end of the call, or with the questions that are left.
func (s *Requests) resumeSuspended(c *upstream.Call, p *suspended, left []inquiry, out *peer.Outgoing) {
	if p.end != nil {
		refuseAll(left, "the call is over", out)
		p.end(*c, out)
		return
	}
	for i := range left {
		if s.lacks(p.from, p.id, c, &left[i], out) {
			refuseAll(append(left[:i:i], left[i+1:]...), "the call is over", out)
			return
		}
	}
	if len(left) > 0 {
		s.suspend(p.from, p.id, c, left, out)
	}
}
