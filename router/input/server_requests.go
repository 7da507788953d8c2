package input

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A serverRequest is a request of an upstream server that was forwarded to the client and not yet
// answered.
type serverRequest struct {
	calls.IDs
	from      *upstream.Upstream
	method    string
	task      bool // the server asks for a task
	traceID   uint64
	arrivedAt int64
	round     *inputRound // not nil: this is an input request of the round, not a request of from
	index     int         // in round.requests
}

// Limits on the requests of upstream servers that wait until the client is ready: their number and
// their total bytes.
const maxQueued, maxQueuedBytes = 256, 4 << 20

// A queuedServerRequest is a request that arrived before the client was ready.
type queuedServerRequest struct {
	serverRequest
	frame []byte
}

func (e queuedServerRequest) Size() int { return len(e.frame) }

// ClientReady records that the client accepts requests and forwards the queued ones (2025-11-25,
// Lifecycle: a server "SHOULD NOT send requests other than pings and logging before receiving the
// initialized notification"). A client that sends a request without having sent that notification
// also counts as ready.
func (s *Requests) ClientReady(out *peer.Outgoing) {
	if s.Peer.Ready {
		return
	}
	s.Peer.Ready = true
	var m jsonrpc.Message
	for _, e := range s.queued {
		s.Free(e.Size())
		if jsonrpc.Scan(e.frame, &m) == nil {
			s.sendToClient(e.serverRequest, &m, out)
		}
	}
	s.queued = nil
}

// Request forwards a server's request to the client under a new request ID. traceID is its
// correlation number in the trace.
func (s *Requests) Request(u *upstream.Upstream, m *jsonrpc.Message, traceID uint64, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	if !s.Knows(u) {
		const why = "the client may not use this server"
		u.SendFrame(out, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: traceID, Method: method})
		return
	}
	q := serverRequest{from: u, method: string(method), traceID: traceID, arrivedAt: s.Clock.Now(), task: mcpwire.AsksForTask(m)}
	token, err := mcpwire.ProgressToken(m)
	q.Keep(m, token)
	if err == nil {
		m, err = nameServer(u, m)
	}
	if err != nil {
		refuseAsk(&q, jsonrpc.CodeInvalidParams, err.Error(), out)
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.askDuringCall(&q, m, out) {
		return
	}
	if why := s.whyCannotAsk(method); why != "" {
		refuseAsk(&q, jsonrpc.CodeMethodNotFound, why, out)
		return
	}
	if s.tasks.IsForeign(u, m, method) {
		refuseAsk(&q, jsonrpc.CodeInvalidParams, "the client executes no such task for this server", out)
		return
	}
	if s.Peer.Ready {
		s.sendToClient(q, m, out)
		return
	}
	if len(s.queued) >= maxQueued || client.TotalSize(s.queued)+len(m.Frame) > maxQueuedBytes || s.Retain(len(m.Frame)) != nil {
		refuseAsk(&q, jsonrpc.CodeInternalError, "the client is not ready yet", out)
		return
	}
	s.queued = append(s.queued, queuedServerRequest{q, bytes.Clone(m.Frame)})
}

// whyCannotAsk returns why the client cannot be sent a request of this method, or "".
func (s *Requests) whyCannotAsk(method mcpwire.Method) string {
	need := inputreq.RequiredCapability(method)
	switch {
	case need == "":
		return "toolman does not pass on requests of this method to clients"
	case s.Peer.Hello == nil && s.Peer.Modern:
		return "no request of the client is open during which it could be asked"
	case s.Peer.Hello == nil || !s.Peer.Hello.Has(need):
		return "the client has not declared the capability " + need
	}
	return ""
}

// sendToClient writes a server's request to the client.
func (s *Requests) sendToClient(q serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
	id, ok := s.serverRequests.Add(q)
	if !ok {
		refuseAsk(&q, jsonrpc.CodeInternalError, "the client is gone", out)
		return
	}
	num := out.Number(id)
	out.Edit(m.ID, num)
	if token, err := mcpwire.ProgressToken(m); err == nil && token.Present() {
		out.Edit(token, num)
	}
	if s.Pass(out, m, &tracing.Note{ID: q.traceID, Method: mcpwire.Method(q.method), During: s.OpenAt(q.from)}) == nil {
		return
	}
	if _, mine := s.serverRequests.Take(id); mine {
		refuseAsk(&q, jsonrpc.CodeInternalError, "the request could not be written to the client", out)
	}
}

// OpenAt returns the ID of the client's newest pending request to an upstream server, or nil for
// clients without streams. A request of the server most likely belongs to it.
func (s *Requests) OpenAt(u *upstream.Upstream) (id []byte) {
	if s.Front.Streams == nil {
		return nil
	}
	if at, c := s.newestCall(u, false); at != 0 {
		return c.ID()
	}
	return nil
}

// newestCall returns the session's newest pending call at a server by requests of an era, and its
// request ID there; 0: there is none. It skips modern calls during which the client cannot be
// asked.
func (s *Requests) newestCall(u *upstream.Upstream, modern bool) (id uint64, c calls.Call) {
	u.Calls.EachCall(func(at uint64, one calls.Call) {
		if at > id && s.owns(&one) && one.Modern == modern && (!modern || one.Context != nil) {
			id, c = at, one
		}
	})
	return id, c
}

// owns reports whether this session made the call.
func (s *Requests) owns(c *calls.Call) bool { return c.Caller == s.Caller }

// Answer forwards the client's answer to the upstream server that sent the request.
func (s *Requests) Answer(m *jsonrpc.Message, out *peer.Outgoing) {
	id, ok := jsonrpc.ParseID(m.Bytes(m.ID))
	var q serverRequest
	if ok {
		q, ok = s.serverRequests.Take(id)
	}
	if !ok {
		s.Trace.Orphan(tracing.Client, s.Name(), m)
		return
	}
	if q.round != nil {
		s.roundAnswered(&q, m, out)
		return
	}
	if q.task {
		s.tasks.LearnClientTask(m, q.from)
	}
	s.forwardAnswer(&q, m, out)
}

// forwardAnswer writes the client's answer to a request of the server.
func (s *Requests) forwardAnswer(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
	back := tracing.Note{ID: q.traceID, Method: mcpwire.Method(q.method)}
	if s.Trace.On() {
		back.Total = time.Duration(s.Clock.Now() - q.arrivedAt)
		back.Leg = back.Total // all of it is the client's
		s.Trace.Response(tracing.Client, s.Name(), m, tracing.Note{ID: q.traceID, Method: back.Method, Leg: back.Leg})
	}
	if m.BothResultAndError {
		m = jsonrpc.Strict(m)
	}
	out.Edit(m.ID, out.Copy(q.ID()))
	refuseUnsent(q, q.from.Send(out, m, &back), out)
}

// refuseUnsent refuses a server's request if err says that the client's answer could not be
// written.
func refuseUnsent(q *serverRequest, err error, out *peer.Outgoing) {
	if errors.Is(err, jsonrpc.ErrLineBreak) {
		refuseAsk(q, jsonrpc.CodeInternalError, "the client's answer could not be passed on: "+err.Error(), out)
	}
}

// MalformedAnswer refuses an upstream server's request whose answer could not be parsed. It reports
// whether there was such a request.
func (s *Requests) MalformedAnswer(m *jsonrpc.Message, err error, out *peer.Outgoing) bool {
	id, found := jsonrpc.AnsweredID(m, err)
	if !found {
		return false
	}
	q, ok := s.serverRequests.Take(id)
	if ok {
		s.Mu.Lock()
		s.failServerRequest(&q, "the client's answer could not be passed on: "+err.Error(), out)
		s.Mu.Unlock()
	}
	return ok
}

// Progress forwards the client's progress notification for a request of an upstream server.
func (s *Requests) Progress(m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.IDParam(m, "progressToken")
	if err != nil || !at.Present() {
		return
	}
	id, ok := jsonrpc.ParseID(m.Bytes(at))
	if !ok {
		return
	}
	q, ok := s.serverRequests.Get(id)
	if !ok || len(q.Token()) == 0 {
		return
	}
	out.Edit(at, out.Copy(q.Token()))
	q.from.Send(out, m, &tracing.Note{ID: q.traceID, Method: mcpwire.Progress})
}

// Cancel handles an upstream server's cancellation of its request.
func (s *Requests) Cancel(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.IDParam(m, "requestId")
	if err != nil || !at.Present() {
		return
	}
	their := m.Bytes(at)
	asked := func(q serverRequest) bool { return q.from == u && bytes.Equal(q.ID(), their) }
	id, q, ok := s.serverRequests.TakeIf(asked)
	if !ok {
		s.dropQueued(asked)
		s.dropQuestions(asked)
		return
	}
	num := out.Number(id)
	out.Edit(at, num)
	s.Pass(out, m, &tracing.Note{ID: q.traceID, Method: mcpwire.Cancelled})
}

// dropQueued removes requests that were not yet sent to the client.
func (s *Requests) dropQueued(match func(serverRequest) bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.queued = slices.DeleteFunc(s.queued, func(e queuedServerRequest) bool {
		gone := match(e.serverRequest)
		if gone {
			s.Free(e.Size())
		}
		return gone
	})
}

// Withdraw cancels the requests of an upstream server that has disconnected.
func (s *Requests) Withdraw(u *upstream.Upstream, out *peer.Outgoing) {
	s.dropQueued(func(q serverRequest) bool { return q.from == u })
	for _, q := range s.serverRequests.TakeAll(func(q serverRequest) bool { return q.from == u }) {
		s.sendCancellation(q.ID, q.Call.traceID, "the server has disconnected", out)
	}
	s.Mu.Lock()
	s.FailRounds(func(from *upstream.Upstream, _ *catalog.Entry) string {
		if from == u {
			return u.GoneText()
		}
		return ""
	}, audit.Gone, out)
	s.Mu.Unlock()
}

// sendCancellation tells the client that it need not answer a request. The request must already be
// removed from serverRequests.
func (s *Requests) sendCancellation(id, n uint64, reason string, out *peer.Outgoing) {
	s.Send(out, calls.Cancellation(id, reason), tracing.Note{ID: n, Method: mcpwire.Cancelled})
}

// refuseAsk answers a server's request that the client cannot answer.
func refuseAsk(q *serverRequest, code int64, why string, out *peer.Outgoing) {
	frame := jsonrpc.AppendError(nil, q.ID(), code, why, nil)
	if q.method == string(mcpwire.Elicit) && code == jsonrpc.CodeInternalError {
		frame = jsonrpc.AppendResult(nil, q.ID(), []byte(`{"action":"cancel"}`))
	}
	q.from.SendFrame(out, frame, tracing.Note{ID: q.traceID, Method: mcpwire.Method(q.method), Status: "local"})
}

// Close fails all requests to the client because the client has disconnected.
func (s *Requests) Close(out *peer.Outgoing) {
	s.endSuspensions(out)
	for _, q := range s.serverRequests.Close() {
		s.failServerRequest(&q, "the client is gone", out)
	}
}

// Held contains the numbers of items that are kept for a client's input.
type Held struct {
	ServerRequests int // unanswered by the client
	Rounds         int // calls that wait for the client's input
	Suspended      int // calls of a modern client that wait for answers
	Bytes          int // of suspended calls
	Permits        int // retries of dangerous calls that the client may send
}

// Held returns the current numbers.
func (s *Requests) Held() Held {
	return Held{s.serverRequests.Len(), len(s.rounds), len(s.suspensions.calls), s.suspensions.size, len(s.permits)}
}
