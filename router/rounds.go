package router

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

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
func (s *Session) beginRound(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, result *mcpwire.Result, out *peer.Outgoing) error {
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
	if why := s.whyNotAskLocked(u, c, m, &in); why != "" {
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
	s.input.rounds = append(s.input.rounds, r)
	if len(in.Asks) == 0 {
		r.timer = time.AfterFunc(roundPace, func() { s.roundDue(r) })
		return nil
	}
	r.timer = time.AfterFunc(roundTime, func() { s.roundDue(r) })
	for i := range in.Asks {
		s.askInputLocked(r, &in.Asks[i], out)
	}
	return nil
}

// whyNotAskLocked says why a round cannot begin, or "". It is for all of it or nothing:
// no user is asked in vain.
func (s *Session) whyNotAskLocked(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, in *inputreq.Input) string {
	switch {
	case translationOf(c).rounds > maxRounds:
		return fmt.Sprintf("server %s has asked for input %d times during this call and wants still more; that is as often as toolman lets it", u.Name, maxRounds)
	case len(s.input.rounds) >= openRounds || client.OverBytes(s.input.rounds, len(m.Frame)):
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

// askInputLocked asks the client one thing.
func (s *Session) askInputLocked(r *inputRound, ask *inputreq.Ask, out *peer.Outgoing) {
	if num, ok := s.addInputLocked(r, ask.Method, []byte(ask.Key), out); ok {
		s.Send(out, ask.AppendRequest(nil, num, "toolman-"+string(num)), tracing.Note{ID: r.call.TraceID, Method: ask.Method, During: r.call.ID()})
	}
}

// addInputLocked makes a leg, and returns the id to ask it under. Without a client it
// gives up the round.
func (s *Session) addInputLocked(r *inputRound, method mcpwire.Method, key []byte, out *peer.Outgoing) (num []byte, ok bool) {
	q := serverRequest{from: r.from, method: string(method), n: r.call.TraceID, came: s.Clock.Now(), round: r, leg: len(r.legs)}
	id, ok := s.input.serverRequests.Add(q)
	if !ok {
		s.unansweredLocked(&q, "the client is gone", out)
		return nil, false
	}
	r.legs = append(r.legs, leg{ask: id, answer: inputreq.Answer{Key: key}})
	return strconv.AppendUint(nil, id, 10), true
}
