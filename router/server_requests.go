package router

import (
	"bytes"
	"slices"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/tracing"
)

// How many requests of upstreams wait until the client is ready for them, and how many bytes they
// have together.
const earlyLimit, earlyBytes = 256, 4 << 20

// An queuedServerRequest is a question that came before the client was ready.
type queuedServerRequest struct {
	serverRequest
	frame []byte
}

func (e queuedServerRequest) size() int { return len(e.frame) }

// clientReadyLocked notes that the client takes requests (2025-11-25, Lifecycle: a
// server "SHOULD NOT send requests other than pings and logging before receiving
// the initialized notification"). A client that asks for something without having
// sent that notification is ready, too.
func (s *Session) clientReadyLocked(out *peer.Outgoing) {
	if s.peer.ready {
		return
	}
	s.peer.ready = true
	var m jsonrpc.Message
	for _, e := range s.input.queued {
		s.freeLocked(e.size())
		if jsonrpc.Scan(e.frame, &m) == nil {
			s.put(e.serverRequest, &m, out)
		}
	}
	s.input.queued = nil
}

// ask passes a request of an upstream on to the client, under an id of ours.
func (s *Session) ask(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing, method mcpwire.Method, n uint64) {
	q := serverRequest{from: u, method: string(method), n: n, came: u.r.clock.Now(), task: mcpwire.AsksForTask(m)}
	token, err := mcpwire.ProgressToken(m)
	q.keep(m, token)
	if err == nil {
		m, err = u.named(m)
	}
	if err != nil {
		u.refuseAsk(&q, jsonrpc.CodeInvalidParams, err.Error(), out)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inquireLocked(&q, m, out) {
		return
	}
	if why := s.cannotLocked(method); why != "" {
		u.refuseAsk(&q, jsonrpc.CodeMethodNotFound, why, out)
		return
	}
	if s.foreignTaskLocked(u, m, method) {
		u.refuseAsk(&q, jsonrpc.CodeInvalidParams, "the client does no such task for this server", out)
		return
	}
	if s.peer.ready {
		s.put(q, m, out)
		return
	}
	if len(s.input.queued) >= earlyLimit || sizeOf(s.input.queued)+len(m.Frame) > earlyBytes || s.retainLocked(len(m.Frame)) != nil {
		u.refuseAsk(&q, jsonrpc.CodeInternalError, "the client is not ready yet", out)
		return
	}
	s.input.queued = append(s.input.queued, queuedServerRequest{q, bytes.Clone(m.Frame)})
}

// cannotLocked says why the client cannot be asked this, or "".
func (s *Session) cannotLocked(method mcpwire.Method) string {
	need := inputreq.RequiredCapability(method)
	switch {
	case need == "":
		return "toolman does not pass on requests of this method to clients"
	case s.peer.hello == nil && s.peer.modern:
		return "no request of the client is open during which it could be asked"
	case s.peer.hello == nil || !s.peer.hello.Has(need):
		return "the client has not declared the capability " + need
	}
	return ""
}

// put writes a question to the client.
func (s *Session) put(q serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
	id, ok := s.input.serverRequests.Add(q)
	if !ok {
		q.from.refuseAsk(&q, jsonrpc.CodeInternalError, "the client is gone", out)
		return
	}
	num := out.Number(id)
	out.Edit(m.ID, num)
	if token, err := mcpwire.ProgressToken(m); err == nil && token.Present() {
		out.Edit(token, num)
	}
	if s.pass(out, m, &tracing.Note{ID: q.n, Method: mcpwire.Method(q.method), During: s.openAt(q.from)}) == nil {
		return
	}
	if _, mine := s.input.serverRequests.Take(id); mine {
		q.from.refuseAsk(&q, jsonrpc.CodeInternalError, "the client does not take what it is asked", out)
	}
}

// openAt returns the id of the newest request of the client that waits for an upstream,
// where that matters: what the upstream asks is most likely a part of that.
func (s *Session) openAt(u *Upstream) (id []byte) {
	if s.front.streams == nil {
		return nil
	}
	var newest uint64
	var found call
	u.pending.calls.Each(func(at uint64, c call) {
		if at > newest && c.session == s && !c.modern {
			newest, found = at, c
		}
	})
	if newest == 0 {
		return nil
	}
	return found.id()
}

// forgetEarly drops questions that the client has not been asked yet.
func (s *Session) forgetEarly(match func(serverRequest) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.input.queued = slices.DeleteFunc(s.input.queued, func(e queuedServerRequest) bool {
		gone := match(e.serverRequest)
		if gone {
			s.freeLocked(e.size())
		}
		return gone
	})
}

// withdraw takes back what an upstream has asked that is gone now.
func (s *Session) withdraw(u *Upstream, out *peer.Outgoing) {
	s.forgetEarly(func(q serverRequest) bool { return q.from == u })
	for _, q := range s.input.serverRequests.TakeAll(func(q serverRequest) bool { return q.from == u }) {
		s.takeBack(q.ID, q.Call.n, "the server that asked is gone", out)
	}
	s.mu.Lock()
	s.failRoundsLocked(func(r *inputRound) bool { return r.from == u }, u.goneText(), audit.Gone, out)
	s.mu.Unlock()
}

// takeBack tells the client that it need not answer any more. The question is out of
// asks.
func (s *Session) takeBack(id, n uint64, reason string, out *peer.Outgoing) {
	s.send(out, cancellation(id, reason), tracing.Note{ID: n, Method: mcpwire.Cancelled})
}
