package input

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/subscribe"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Requests are the requests for input that upstream servers and toolman send to a client. Conn.Mu
// guards them, except serverRequests.
type Requests struct {
	*client.Conn
	tasks          *subscribe.Tasks
	signer         *Signer
	serverRequests jsonrpc.Pending[serverRequest] // forwarded to the client, unanswered
	queued         []queuedServerRequest          // until the client is ready
	rounds         []*inputRound                  // calls that wait for the client's input
	suspensions    suspensions                    // calls of a modern client that wait for answers
	permits        retryPermits                   // retries that a modern client may send
}

// Init initializes s for a client connection.
func (s *Requests) Init(conn *client.Conn, tasks *subscribe.Tasks, signer *Signer) {
	s.Conn, s.tasks, s.signer = conn, tasks, signer
	s.suspensions.account = conn.Info.Account
}

// Limits on the input that modern servers request of a legacy client.
const (
	maxRoundsPerCall = 10                     // per call
	maxOpenRounds    = 64                     // per session
	roundTimeout     = 10 * time.Minute       // for the client's answers to one round
	emptyRoundDelay  = 250 * time.Millisecond // before repeating a call for which the server requested no input
)

// An inputRound is the phase of a legacy client's call between a modern server's
// InputRequiredResult and the repeated call with the answers (2026-07-28, Multi Round-Trip
// Requests). The round is open while it is in Requests.rounds. The code that closes it must answer
// the call. A call for which toolman itself asks a Question is also an inputRound.
type inputRound struct {
	from     *upstream.Upstream
	call     calls.Call
	state    []byte // the server's requestState, verbatim; nil: none
	requests []inputRequest
	timer    *time.Timer
	held     int       // bytes retained in the client's account
	question *Question // of toolman itself; nil in a server's round
}

// An inputRequest is one request to the client in a round.
type inputRequest struct {
	id     uint64          // request ID
	answer inputreq.Answer // Result is nil until the client answers
}

// Size returns the number of bytes that the round keeps besides the call.
func (r *inputRound) Size() int {
	size := len(r.state)
	if r.question != nil {
		size += len(r.question.Frame)
	}
	for i := range r.requests {
		size += len(r.requests[i].answer.Result)
	}
	return size
}

// beginRound asks the client for the input that a modern server needs to continue a call. An error
// describes what is wrong with the server's result.
func (s *Requests) beginRound(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message, result *mcpwire.Result, out *peer.Outgoing) error {
	if c.Context == nil {
		return errors.New("it requests input, which is not allowed for this method")
	}
	in, err := inputreq.InputOf(result, m)
	if err != nil {
		return err
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	translationOf(c).rounds++
	if why := s.whyNotAsk(u, c, m, &in); why != "" {
		s.FailCall(c, why, audit.Failed, out)
		return nil
	}
	r := &inputRound{from: u, call: *c}
	if in.State.Present() {
		r.held = in.State.Hi - in.State.Lo
		if err := s.Retain(r.held); err != nil {
			s.FailCall(c, fmt.Sprintf("server %s needs input of the client for this, but %v", u.Name, err), audit.Failed, out)
			return nil
		}
		r.state = bytes.Clone(m.Bytes(in.State))
	}
	s.rounds = append(s.rounds, r)
	if len(in.Asks) == 0 {
		r.timer = time.AfterFunc(emptyRoundDelay, func() { s.roundDue(r) })
		return nil
	}
	r.timer = time.AfterFunc(roundTimeout, func() { s.roundDue(r) })
	for i := range in.Asks {
		s.askInput(r, &in.Asks[i], out)
	}
	return nil
}

// whyNotAsk returns why a round cannot begin, or "". Either all inputs can be requested or none is,
// so that no user answers in vain.
func (s *Requests) whyNotAsk(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message, in *inputreq.Input) string {
	switch {
	case translationOf(c).rounds > maxRoundsPerCall:
		return fmt.Sprintf("server %s has asked for input %d times during this call and requests more; toolman allows no more", u.Name, maxRoundsPerCall)
	case s.Full(len(m.Frame)):
		return fmt.Sprintf("server %s needs input of the client for this, but too many calls wait for input already; answer those first and call again", u.Name)
	}
	version := mcpwire.Negotiate(s.Peer.Hello.Version)
	for _, ask := range in.Asks {
		method, params := ask.Method, ask.Params
		if since := inputreq.AskedSince(method, params); version < since {
			return fmt.Sprintf("server %s needs %s of the client for this, in a form that came with revision %s; the client speaks %s", u.Name, method, since, version)
		}
		if missing := inputreq.Lacks(s.Peer.Hello.Capabilities, method, params); missing != "" {
			return fmt.Sprintf("server %s needs %s of the client for this, but the client has not declared the capability %s", u.Name, method, missing)
		}
	}
	return ""
}

// askInput sends one input request to the client.
func (s *Requests) askInput(r *inputRound, ask *inputreq.Ask, out *peer.Outgoing) {
	if num, ok := s.addInput(r, ask.Method, []byte(ask.Key), out); ok {
		s.Send(out, ask.AppendRequest(nil, num, "toolman-"+string(num)), tracing.Note{ID: r.call.TraceID, Method: ask.Method, During: r.call.ID()})
	}
}

// addInput adds an input request to the round and returns its request ID. If the client has
// disconnected, addInput fails the round.
func (s *Requests) addInput(r *inputRound, method mcpwire.Method, key []byte, out *peer.Outgoing) (num []byte, ok bool) {
	q := serverRequest{from: r.from, method: string(method), traceID: r.call.TraceID, arrivedAt: s.Clock.Now(), round: r, index: len(r.requests)}
	id, ok := s.serverRequests.Add(q)
	if !ok {
		s.failServerRequest(&q, "the client is gone", out)
		return nil, false
	}
	r.requests = append(r.requests, inputRequest{id: id, answer: inputreq.Answer{Key: key}})
	return strconv.AppendUint(nil, id, 10), true
}

// A Question is what toolman itself asks a legacy client before it forwards a call.
type Question struct {
	Ask     inputreq.Ask
	Frame   []byte // of the client's request, which is kept until the answer
	Purpose string // begins the errors of a question without an answer
	// Answered is called with the client's answer, whose result is an object.
	Answered func(m *jsonrpc.Message, out *peer.Outgoing)
	// Failed is called if there is no answer.
	Failed func(why string, how audit.Outcome, out *peer.Outgoing)
}

// AskFirst asks the client a question about a call before the call is forwarded. The client must
// have the capability for it (inputreq.Lacks), and there must be room (Full).
func (s *Requests) AskFirst(from *upstream.Upstream, c *calls.Call, q *Question, out *peer.Outgoing) {
	r := &inputRound{from: from, call: *c, question: q}
	s.rounds = append(s.rounds, r)
	r.timer = time.AfterFunc(roundTimeout, func() { s.roundDue(r) })
	if id, ok := s.addInput(r, q.Ask.Method, nil, out); ok {
		s.Send(out, q.Ask.AppendRequest(nil, id, ""), tracing.Note{ID: c.TraceID, Method: q.Ask.Method, During: r.call.ID()})
	}
}

// Full reports whether too many calls wait for input for a further one, whose frame has size bytes.
func (s *Requests) Full(size int) bool {
	return len(s.rounds) >= maxOpenRounds || client.OverBytes(s.rounds, size)
}

// roundAnswered handles the client's answer to one input request. After the last answer it repeats
// the call.
func (s *Requests) roundAnswered(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
	s.Trace.Response(tracing.Client, s.Name(), m, tracing.Note{ID: q.traceID, Method: mcpwire.Method(q.method), Leg: time.Duration(s.Clock.Now() - q.arrivedAt)})
	if m.BothResultAndError {
		m = jsonrpc.Strict(m)
	}
	r := q.round
	switch {
	case m.Err.Present():
		text, _ := mcpwire.ErrorText(m)
		s.failServerRequest(q, "the client answered with an error: "+sanitize.Cut(text, maxErrorText), out)
	case !m.IsObject(m.Result):
		s.failServerRequest(q, "the client's answer is not an object", out)
	case r.question != nil:
		if s.closeRound(r, out) {
			r.question.Answered(m, out)
		}
	case client.OverBytes(s.rounds, m.Result.Hi-m.Result.Lo):
		s.failServerRequest(q, "the client's answers are too long to store", out)
	default:
		size := m.Result.Hi - m.Result.Lo
		if err := s.Retain(size); err != nil {
			s.failServerRequest(q, err.Error(), out)
			return
		}
		r.held += size
		r.requests[q.index].answer.Result = bytes.Clone(m.Bytes(m.Result))
		if !slices.ContainsFunc(r.requests, func(l inputRequest) bool { return l.answer.Result == nil }) {
			s.retry(r, out)
		}
	}
}

// failServerRequest fails a server request that gets no answer, together with its round if it has
// one.
func (s *Requests) failServerRequest(q *serverRequest, why string, out *peer.Outgoing) {
	if q.round == nil {
		refuseAsk(q, jsonrpc.CodeInternalError, why, out)
		return
	}
	said, how := fmt.Sprintf("server %s needs %s of the client for this, which could not be had: %s", q.from.Name, q.method, why), audit.Failed
	if q.round.question != nil {
		said = q.round.question.Purpose + ", and could not be asked: " + why
	}
	s.failRound(q.round, said, how, out)
}

// retry repeats a round's call: the same request with a new ID, the answers of this round only, and
// the server's requestState.
func (s *Requests) retry(r *inputRound, out *peer.Outgoing) {
	if !s.closeRound(r, out) {
		return
	}
	c := &r.call
	if c.Entry.NeedsConfirmation() && !s.stillCallable(c.Entry) {
		s.FailCall(c, c.Entry.NotRunText(ChangedMeanwhile), audit.Refused, out)
		return
	}
	var answers []inputreq.Answer
	for i := range r.requests {
		answers = append(answers, r.requests[i].answer)
	}
	var m jsonrpc.Message
	err := jsonrpc.Scan(translationOf(c).request, &m)
	if err == nil {
		var edits []jsonrpc.Edit
		edits, err = inputreq.AddRetry(out.Edits(), &m, inputreq.AppendRetryMembers(nil, answers, r.state))
		out.SetEdits(edits)
	}
	if err != nil {
		out.Forget()
		s.FailCall(c, fmt.Sprintf("server %s could not be called again with the client's input: %v", r.from.Name, err), audit.Failed, out)
		return
	}
	if s.Clock.Timed() {
		now := s.Clock.Now()
		translationOf(c).earlierTime += now - c.SentAt
		c.SentAt, c.Waited = now, 0
	}
	token, _ := mcpwire.ProgressToken(&m)      // the first call had no error here
	name, _, _ := mcpwire.Target(&m, c.Method) // likewise
	r.from.Calls.Submit(&m, out, c, token, string(m.Text(name)))
}

// roundDue handles the expiry of a round's timer.
func (s *Requests) roundDue(r *inputRound) {
	s.WithLock(func(out *peer.Outgoing) {
		switch {
		case len(r.requests) == 0:
			s.retry(r, out)
		case r.question != nil:
			s.failRound(r, fmt.Sprintf("%s, and has not answered within %s", r.question.Purpose, roundTimeout), audit.Refused, out)
		default:
			s.failRound(r, fmt.Sprintf("server %s needs input of the client for this, and the client has not answered within %s", r.from.Name, roundTimeout), audit.Failed, out)
		}
	})
}

// closeRound closes a round and cancels its unanswered requests to the client. It reports false
// when the round was already closed.
func (s *Requests) closeRound(r *inputRound, out *peer.Outgoing) bool {
	i := slices.Index(s.rounds, r)
	if i < 0 {
		return false
	}
	s.rounds = slices.Delete(s.rounds, i, i+1)
	s.Free(r.held)
	r.timer.Stop()
	for i := range r.requests {
		if _, open := s.serverRequests.Take(r.requests[i].id); open {
			s.sendCancellation(r.requests[i].id, r.call.TraceID, "the call that this was asked for is over", out)
		}
	}
	return true
}

// failRound closes a round and answers its call with a failure.
func (s *Requests) failRound(r *inputRound, why string, how audit.Outcome, out *peer.Outgoing) {
	switch {
	case !s.closeRound(r, out):
	case r.question != nil:
		r.question.Failed(why, how, out)
	default:
		s.FailCall(&r.call, why, how, out)
	}
}

// FailRounds fails the rounds for which why returns a reason.
func (s *Requests) FailRounds(why func(u *upstream.Upstream, e *catalog.Entry) string, how audit.Outcome, out *peer.Outgoing) {
	for _, r := range slices.Clone(s.rounds) {
		if text := why(r.from, r.call.Entry); text != "" {
			s.failRound(r, text, how, out)
		}
	}
}

// CancelRound closes the round for the client's request with this ID, which the client cancels with
// m. It reports whether there is such a round.
func (s *Requests) CancelRound(id []byte, m *jsonrpc.Message, out *peer.Outgoing) bool {
	r := s.roundOf(id)
	if r == nil {
		return false
	}
	s.Trace.Notification(tracing.Client, s.Name(), m, r.call.TraceID)
	s.closeRound(r, out)
	r.call.Audited.End(audit.Cancelled)
	return true
}

// roundOf returns the newest open round for the client's request with this ID, or nil.
func (s *Requests) roundOf(id []byte) *inputRound {
	for _, r := range slices.Backward(s.rounds) {
		if s.HasRequestID(&r.call, id) {
			return r
		}
	}
	return nil
}
