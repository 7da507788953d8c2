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
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/subscribe"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Requests are what servers, and toolman itself, want of a client. They are guarded by Conn.Mu, but for
// serverRequests.
type Requests struct {
	*client.Conn
	tasks          *subscribe.Tasks
	signer         *Signer
	scrub          func() func(text string) string                // returns what hides the configured secrets; nil: there are none
	onAgreed       func(req *client.Request, tool *catalog.Entry) // passes on a call that a person has agreed to
	serverRequests jsonrpc.Pending[serverRequest]                 // that the client has not answered
	queued         []queuedServerRequest                          // until the client is ready
	rounds         []*inputRound                                  // calls that wait for what modern servers ask
	suspensions    suspensions                                    // calls of the modern era that wait for answers
	permits        permits                                        // retries that a modern client may make of calls of dangerous tools
}

// Init makes s the requests of a client.
func (s *Requests) Init(conn *client.Conn, tasks *subscribe.Tasks, signer *Signer, scrub func() func(string) string, agreed func(*client.Request, *catalog.Entry)) {
	s.Conn, s.tasks, s.signer, s.scrub, s.onAgreed = conn, tasks, signer, scrub, agreed
	s.suspensions.who = conn.Who.Account
}

// Bounds on what modern servers ask of a legacy client.
const (
	maxRounds  = 10                     // of one call
	openRounds = 64                     // at once
	roundTime  = 10 * time.Minute       // for the client to answer what it is asked in one
	roundPace  = 250 * time.Millisecond // before a call is made again for which nothing was asked
)

// A inputRound is a legacy client's call between the result in which a modern server asks
// for input and the call made again with the answers (2026-07-28, Multi Round-Trip
// Requests). It is open while the session has it; who closes it sees to the answer.
// A call that waits for a person's consent is one, too.
type inputRound struct {
	from  *upstream.Upstream
	call  upstream.Call
	state []byte // what the server wants back, as it came; nil for nothing
	legs  []leg
	timer *time.Timer
	held  int    // bytes of the client's account
	frame []byte // of a call that is made when a person has agreed to it (confirm.go); nil in a server's round
}

// A leg is one thing that the client is asked in a round.
type leg struct {
	ask    uint64          // its id
	answer inputreq.Answer // without a result until it is there
}

// size is what the round keeps beside the call.
func (r *inputRound) Size() int {
	size := len(r.state) + len(r.frame)
	for i := range r.legs {
		size += len(r.legs[i].answer.Result)
	}
	return size
}

// beginRound asks the client what a modern server needs for going on with a call. An
// error says what is wrong with the server's result.
func (s *Requests) beginRound(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, result *mcpwire.Result, out *peer.Outgoing) error {
	if c.Context == nil {
		return errors.New("it asks for input, which is not for requests of this method")
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
		r.timer = time.AfterFunc(roundPace, func() { s.roundDue(r) })
		return nil
	}
	r.timer = time.AfterFunc(roundTime, func() { s.roundDue(r) })
	for i := range in.Asks {
		s.askInput(r, &in.Asks[i], out)
	}
	return nil
}

// whyNotAsk says why a round cannot begin, or "". It is for all of it or nothing:
// no user is asked in vain.
func (s *Requests) whyNotAsk(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, in *inputreq.Input) string {
	switch {
	case translationOf(c).rounds > maxRounds:
		return fmt.Sprintf("server %s has asked for input %d times during this call and wants still more; that is as often as toolman lets it", u.Name, maxRounds)
	case len(s.rounds) >= openRounds || client.OverBytes(s.rounds, len(m.Frame)):
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

// askInput asks the client one thing.
func (s *Requests) askInput(r *inputRound, ask *inputreq.Ask, out *peer.Outgoing) {
	if num, ok := s.addInput(r, ask.Method, []byte(ask.Key), out); ok {
		s.Send(out, ask.AppendRequest(nil, num, "toolman-"+string(num)), tracing.Note{ID: r.call.TraceID, Method: ask.Method, During: r.call.ID()})
	}
}

// addInput makes a leg, and returns the id to ask it under. Without a client it
// gives up the round.
func (s *Requests) addInput(r *inputRound, method mcpwire.Method, key []byte, out *peer.Outgoing) (num []byte, ok bool) {
	q := serverRequest{from: r.from, method: string(method), n: r.call.TraceID, came: s.Clock.Now(), round: r, leg: len(r.legs)}
	id, ok := s.serverRequests.Add(q)
	if !ok {
		s.unanswered(&q, "the client is gone", out)
		return nil, false
	}
	r.legs = append(r.legs, leg{ask: id, answer: inputreq.Answer{Key: key}})
	return strconv.AppendUint(nil, id, 10), true
}

// answered takes the client's answer to one leg, and with the last one has the
// call made again.
func (s *Requests) answered(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
	s.Trace.Response(tracing.Client, s.Name(), m, tracing.Note{ID: q.n, Method: mcpwire.Method(q.method), Leg: time.Duration(s.Clock.Now() - q.came)})
	if m.BothResultAndError {
		m = jsonrpc.Strict(m)
	}
	r := q.round
	switch {
	case m.Err.Present():
		text, _ := mcpwire.ErrorText(m)
		s.unanswered(q, "the client answered with an error: "+sanitize.Cut(text, maxSaid), out)
	case !m.IsObject(m.Result):
		s.unanswered(q, "the client's answer is not an object", out)
	case r.frame != nil:
		s.consent(r, m, out)
	case client.OverBytes(s.rounds, m.Result.Hi-m.Result.Lo):
		s.unanswered(q, "the client's answers are too long to be kept", out)
	default:
		size := m.Result.Hi - m.Result.Lo
		if err := s.Retain(size); err != nil {
			s.unanswered(q, err.Error(), out)
			return
		}
		r.held += size
		r.legs[q.leg].answer.Result = bytes.Clone(m.Bytes(m.Result))
		if !slices.ContainsFunc(r.legs, func(l leg) bool { return l.answer.Result == nil }) {
			s.retry(r, out)
		}
	}
}

// unanswered gives up a question that gets no answer, and with a leg its round.
func (s *Requests) unanswered(q *serverRequest, why string, out *peer.Outgoing) {
	if q.round == nil {
		refuseAsk(q, jsonrpc.CodeInternalError, why, out)
		return
	}
	said, how := fmt.Sprintf("server %s needs %s of the client for this, which could not be had: %s", q.from.Name, q.method, why), audit.Failed
	if q.round.frame != nil {
		said = "a person has to agree first, and could not be asked: " + why
	}
	s.failRound(q.round, said, how, out)
}

// retry makes a round's call again: the same request under another id, with the
// answers of this round only and the state that the server gave.
func (s *Requests) retry(r *inputRound, out *peer.Outgoing) {
	if !s.closeRound(r, out) {
		return
	}
	c := &r.call
	if c.Entry.AsksFirst() && !s.has(c.Entry) {
		s.FailCall(c, c.Entry.NotRun(ChangedMeanwhile), audit.Refused, out)
		return
	}
	var answers []inputreq.Answer
	for i := range r.legs {
		answers = append(answers, r.legs[i].answer)
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
		s.FailCall(c, fmt.Sprintf("server %s was to be called again with the client's input: %v", r.from.Name, err), audit.Failed, out)
		return
	}
	if s.Clock.Timed() {
		now := s.Clock.Now()
		translationOf(c).before += now - c.SentAt
		c.SentAt, c.Waited = now, 0
	}
	token, _ := mcpwire.ProgressToken(&m)      // was there before, or is not there
	name, _, _ := mcpwire.Target(&m, c.Method) // likewise
	r.from.Submit(&m, out, c, token, string(m.Text(name)))
}

// roundDue goes on with a round whose time has come.
func (s *Requests) roundDue(r *inputRound) {
	var out peer.Outgoing
	s.Mu.Lock()
	switch {
	case len(r.legs) == 0:
		s.retry(r, &out)
	case r.frame != nil:
		s.failRound(r, fmt.Sprintf("a person has to agree first, and nobody has answered within %s", roundTime), audit.Refused, &out)
	default:
		s.failRound(r, fmt.Sprintf("server %s needs input of the client for this, and the client has not answered within %s", r.from.Name, roundTime), audit.Failed, &out)
	}
	s.Mu.Unlock()
	out.Flush()
}

// closeRound closes a round, and takes back what is still asked in it. It reports
// false when the round is closed already.
func (s *Requests) closeRound(r *inputRound, out *peer.Outgoing) bool {
	i := slices.Index(s.rounds, r)
	if i < 0 {
		return false
	}
	s.rounds = slices.Delete(s.rounds, i, i+1)
	s.Free(r.held)
	r.timer.Stop()
	for i := range r.legs {
		if _, open := s.serverRequests.Take(r.legs[i].ask); open {
			s.takeBack(r.legs[i].ask, r.call.TraceID, "the call that this was asked for is over", out)
		}
	}
	return true
}

// failRound closes a round and answers its call with a failure.
func (s *Requests) failRound(r *inputRound, why string, how audit.Outcome, out *peer.Outgoing) {
	switch {
	case !s.closeRound(r, out):
	case r.frame != nil:
		if how != audit.Refused && how != audit.Failed { // nobody is left to decide
			r.call.Audited.End(how)
		}
		s.again(r, out, func(asked *client.Request) { s.DenyUnconfirmed(asked, r.call.Entry, why) })
	default:
		s.FailCall(&r.call, why, how, out)
	}
}

// FailRounds closes the rounds that why gives a reason for.
func (s *Requests) FailRounds(why func(u *upstream.Upstream, e *catalog.Entry) string, how audit.Outcome, out *peer.Outgoing) {
	for _, r := range slices.Clone(s.rounds) {
		if text := why(r.from, r.call.Entry); text != "" {
			s.failRound(r, text, how, out)
		}
	}
}

// CancelRound closes the round that is open for the client's request with this id, which the
// client cancels by m. It reports whether there is one.
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

// roundOf returns the newest round that is open for the client's request with
// this id, or nil.
func (s *Requests) roundOf(id []byte) *inputRound {
	for _, r := range slices.Backward(s.rounds) {
		if s.IsFor(&r.call, id) {
			return r
		}
	}
	return nil
}
