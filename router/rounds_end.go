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
	"toolman/router/tracing"
)

// answeredLocked takes the client's answer to one leg, and with the last one has the
// call made again.
func (s *Session) answeredLocked(q *serverRequest, m *jsonrpc.Message, b *peer.Batch) {
	s.r.trace.Response(tracing.Client, s.name(), m, tracing.Note{ID: q.n, Method: mcpwire.Method(q.method), Leg: time.Duration(s.r.clock.now() - q.came)})
	if m.Loose {
		m = strict(m)
	}
	r := q.round
	switch {
	case m.Err.Present():
		text, _ := mcpwire.ErrorText(m)
		s.unansweredLocked(q, "the client answered with an error: "+sanitize.Cut(text, maxSaid), b)
	case !m.IsObject(m.Result):
		s.unansweredLocked(q, "the client's answer is not an object", b)
	case r.frame != nil:
		s.consentLocked(r, m, b)
	case overBytes(s.input.rounds, m.Result.Hi-m.Result.Lo):
		s.unansweredLocked(q, "the client's answers are too long to be kept", b)
	default:
		size := m.Result.Hi - m.Result.Lo
		if err := s.retainLocked(size); err != nil {
			s.unansweredLocked(q, err.Error(), b)
			return
		}
		r.held += size
		r.legs[q.leg].answer.Result = bytes.Clone(m.Bytes(m.Result))
		if !slices.ContainsFunc(r.legs, func(l leg) bool { return l.answer.Result == nil }) {
			s.retryLocked(r, b)
		}
	}
}

// unansweredLocked gives up a question that gets no answer, and with a leg its round.
func (s *Session) unansweredLocked(q *serverRequest, why string, b *peer.Batch) {
	if q.round == nil {
		q.from.refuseAsk(q, jsonrpc.CodeInternalError, why, b)
		return
	}
	said, how := fmt.Sprintf("server %s needs %s of the client for this, which could not be had: %s", q.from.Name, q.method, why), audit.Failed
	if q.round.frame != nil {
		said = "a person has to agree first, and could not be asked: " + why
	}
	s.failRoundLocked(q.round, said, how, b)
}

// retryLocked makes a round's call again: the same request under another id, with the
// answers of this round only and the state that the server gave.
func (s *Session) retryLocked(r *inputRound, b *peer.Batch) {
	if !s.closeRoundLocked(r, b) {
		return
	}
	c := &r.call
	if c.entry.AsksFirst() && !s.hasLocked(c.entry) {
		c.fail(c.entry.NotRun(changedMeanwhile), audit.Refused, b)
		return
	}
	var answers []inputreq.Answer
	for i := range r.legs {
		answers = append(answers, r.legs[i].answer)
	}
	var m jsonrpc.Message
	err := jsonrpc.Scan(c.translation.request, &m)
	if err == nil {
		var edits []jsonrpc.Edit
		edits, err = inputreq.AddRetry(b.Edits(), &m, inputreq.AppendRetryMembers(nil, answers, r.state))
		b.SetEdits(edits)
	}
	if err != nil {
		b.Forget()
		c.fail(fmt.Sprintf("server %s was to be called again with the client's input: %v", r.from.Name, err), audit.Failed, b)
		return
	}
	if s.r.timed.Load() {
		now := s.r.clock.now()
		c.translation.before += now - c.sent
		c.sent, c.waited = now, 0
	}
	token, _ := mcpwire.ProgressToken(&m)      // was there before, or is not there
	name, _, _ := mcpwire.Target(&m, c.method) // likewise
	r.from.submit(&m, b, c, token, string(m.Text(name)))
}

// roundDue goes on with a round whose time has come.
func (s *Session) roundDue(r *inputRound) {
	var b peer.Batch
	s.mu.Lock()
	switch {
	case len(r.legs) == 0:
		s.retryLocked(r, &b)
	case r.frame != nil:
		s.failRoundLocked(r, fmt.Sprintf("a person has to agree first, and nobody has answered within %s", roundTime), audit.Refused, &b)
	default:
		s.failRoundLocked(r, fmt.Sprintf("server %s needs input of the client for this, and the client has not answered within %s", r.from.Name, roundTime), audit.Failed, &b)
	}
	s.mu.Unlock()
	b.Flush()
}

// closeRoundLocked closes a round, and takes back what is still asked in it. It reports
// false when the round is closed already.
func (s *Session) closeRoundLocked(r *inputRound, b *peer.Batch) bool {
	i := slices.Index(s.input.rounds, r)
	if i < 0 {
		return false
	}
	s.input.rounds = slices.Delete(s.input.rounds, i, i+1)
	s.freeLocked(r.held)
	r.timer.Stop()
	for i := range r.legs {
		if _, open := s.input.serverRequests.Take(r.legs[i].ask); open {
			s.takeBack(r.legs[i].ask, r.call.n, "the call that this was asked for is over", b)
		}
	}
	return true
}

// failRoundLocked closes a round and answers its call with a failure.
func (s *Session) failRoundLocked(r *inputRound, why string, how audit.Outcome, b *peer.Batch) {
	switch {
	case !s.closeRoundLocked(r, b):
	case r.frame != nil:
		if how != audit.Refused && how != audit.Failed { // nobody is left to decide
			r.call.audited.End(how)
		}
		s.againLocked(r, b, func(asked *request) { s.denyUnconfirmedLocked(asked, r.call.entry, why) })
	default:
		r.call.fail(why, how, b)
	}
}

// failRoundsLocked closes the rounds that match.
func (s *Session) failRoundsLocked(match func(*inputRound) bool, why string, how audit.Outcome, b *peer.Batch) {
	for _, r := range slices.Clone(s.input.rounds) {
		if match(r) {
			s.failRoundLocked(r, why, how, b)
		}
	}
}

// roundOfLocked returns the newest round that is open for the client's request with
// this id, or nil.
func (s *Session) roundOfLocked(id []byte) *inputRound {
	for _, r := range slices.Backward(s.input.rounds) {
		if r.call.is(s, id) {
			return r
		}
	}
	return nil
}
