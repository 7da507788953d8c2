package router

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// answeredLocked takes the client's answer to one leg, and with the last one has the
// call made again.
func (s *Session) answeredLocked(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
	s.Trace.Response(tracing.Client, s.Name(), m, tracing.Note{ID: q.n, Method: mcpwire.Method(q.method), Leg: time.Duration(s.Clock.Now() - q.came)})
	if m.BothResultAndError {
		m = upstream.Strict(m)
	}
	r := q.round
	switch {
	case m.Err.Present():
		text, _ := mcpwire.ErrorText(m)
		s.unansweredLocked(q, "the client answered with an error: "+sanitize.Cut(text, maxSaid), out)
	case !m.IsObject(m.Result):
		s.unansweredLocked(q, "the client's answer is not an object", out)
	case r.frame != nil:
		s.consentLocked(r, m, out)
	case client.OverBytes(s.input.rounds, m.Result.Hi-m.Result.Lo):
		s.unansweredLocked(q, "the client's answers are too long to be kept", out)
	default:
		size := m.Result.Hi - m.Result.Lo
		if err := s.Retain(size); err != nil {
			s.unansweredLocked(q, err.Error(), out)
			return
		}
		r.held += size
		r.legs[q.leg].answer.Result = bytes.Clone(m.Bytes(m.Result))
		if !slices.ContainsFunc(r.legs, func(l leg) bool { return l.answer.Result == nil }) {
			s.retryLocked(r, out)
		}
	}
}

// unansweredLocked gives up a question that gets no answer, and with a leg its round.
func (s *Session) unansweredLocked(q *serverRequest, why string, out *peer.Outgoing) {
	if q.round == nil {
		refuseAsk(q, jsonrpc.CodeInternalError, why, out)
		return
	}
	said, how := fmt.Sprintf("server %s needs %s of the client for this, which could not be had: %s", q.from.Name, q.method, why), audit.Failed
	if q.round.frame != nil {
		said = "a person has to agree first, and could not be asked: " + why
	}
	s.failRoundLocked(q.round, said, how, out)
}

// retryLocked makes a round's call again: the same request under another id, with the
// answers of this round only and the state that the server gave.
func (s *Session) retryLocked(r *inputRound, out *peer.Outgoing) {
	if !s.closeRoundLocked(r, out) {
		return
	}
	c := &r.call
	if c.Entry.AsksFirst() && !s.hasLocked(c.Entry) {
		s.FailCall(c, c.Entry.NotRun(changedMeanwhile), audit.Refused, out)
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
		translationOf(c).before += now - c.Sent
		c.Sent, c.Waited = now, 0
	}
	token, _ := mcpwire.ProgressToken(&m)      // was there before, or is not there
	name, _, _ := mcpwire.Target(&m, c.Method) // likewise
	r.from.Submit(&m, out, c, token, string(m.Text(name)))
}

// roundDue goes on with a round whose time has come.
func (s *Session) roundDue(r *inputRound) {
	var out peer.Outgoing
	s.Mu.Lock()
	switch {
	case len(r.legs) == 0:
		s.retryLocked(r, &out)
	case r.frame != nil:
		s.failRoundLocked(r, fmt.Sprintf("a person has to agree first, and nobody has answered within %s", roundTime), audit.Refused, &out)
	default:
		s.failRoundLocked(r, fmt.Sprintf("server %s needs input of the client for this, and the client has not answered within %s", r.from.Name, roundTime), audit.Failed, &out)
	}
	s.Mu.Unlock()
	out.Flush()
}

// closeRoundLocked closes a round, and takes back what is still asked in it. It reports
// false when the round is closed already.
func (s *Session) closeRoundLocked(r *inputRound, out *peer.Outgoing) bool {
	i := slices.Index(s.input.rounds, r)
	if i < 0 {
		return false
	}
	s.input.rounds = slices.Delete(s.input.rounds, i, i+1)
	s.Free(r.held)
	r.timer.Stop()
	for i := range r.legs {
		if _, open := s.input.serverRequests.Take(r.legs[i].ask); open {
			s.takeBack(r.legs[i].ask, r.call.TraceID, "the call that this was asked for is over", out)
		}
	}
	return true
}

// failRoundLocked closes a round and answers its call with a failure.
func (s *Session) failRoundLocked(r *inputRound, why string, how audit.Outcome, out *peer.Outgoing) {
	switch {
	case !s.closeRoundLocked(r, out):
	case r.frame != nil:
		if how != audit.Refused && how != audit.Failed { // nobody is left to decide
			r.call.Audited.End(how)
		}
		s.againLocked(r, out, func(asked *client.Request) { s.denyUnconfirmedLocked(asked, r.call.Entry, why) })
	default:
		s.FailCall(&r.call, why, how, out)
	}
}

// failRoundsLocked closes the rounds that match.
func (s *Session) failRoundsLocked(match func(*inputRound) bool, why string, how audit.Outcome, out *peer.Outgoing) {
	for _, r := range slices.Clone(s.input.rounds) {
		if match(r) {
			s.failRoundLocked(r, why, how, out)
		}
	}
}

// roundOfLocked returns the newest round that is open for the client's request with
// this id, or nil.
func (s *Session) roundOfLocked(id []byte) *inputRound {
	for _, r := range slices.Backward(s.input.rounds) {
		if s.isLocked(&r.call, id) {
			return r
		}
	}
	return nil
}
