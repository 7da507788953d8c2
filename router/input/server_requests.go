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
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A serverRequest is a request of an upstream that was passed on to the client and
// not answered yet.
type serverRequest struct {
	upstream.IDs
	from   *upstream.Upstream
	method string
	task   bool // a task is wanted instead of the result
	n      uint64
	came   int64
	round  *inputRound // not nil: it is a leg of a round of from's, and not its request
	leg    int         // of the round
}

// How many requests of upstreams wait until the client is ready for them, and how many bytes they
// have together.
const earlyLimit, earlyBytes = 256, 4 << 20

// An queuedServerRequest is a question that came before the client was ready.
type queuedServerRequest struct {
	serverRequest
	frame []byte
}

func (e queuedServerRequest) Size() int { return len(e.frame) }

// ClientReady notes that the client takes requests (2025-11-25, Lifecycle: a
// server "SHOULD NOT send requests other than pings and logging before receiving
// the initialized notification"). A client that asks for something without having
// sent that notification is ready, too.
func (s *Requests) ClientReady(out *peer.Outgoing) {
	if s.Peer.Ready {
		return
	}
	s.Peer.Ready = true
	var m jsonrpc.Message
	for _, e := range s.queued {
		s.Free(e.Size())
		if jsonrpc.Scan(e.frame, &m) == nil {
			s.put(e.serverRequest, &m, out)
		}
	}
	s.queued = nil
}

// Request passes the request on to the client, under an id of ours.
func (s *Requests) Request(u *upstream.Upstream, m *jsonrpc.Message, n uint64, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	if !s.Knows(u) {
		const why = "the client may use nothing of this server"
		u.SendFrame(out, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: n, Method: method})
		return
	}
	q := serverRequest{from: u, method: string(method), n: n, came: s.Clock.Now(), task: mcpwire.AsksForTask(m)}
	token, err := mcpwire.ProgressToken(m)
	q.Keep(m, token)
	if err == nil {
		m, err = named(u, m)
	}
	if err != nil {
		refuseAsk(&q, jsonrpc.CodeInvalidParams, err.Error(), out)
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.inquire(&q, m, out) {
		return
	}
	if why := s.cannot(method); why != "" {
		refuseAsk(&q, jsonrpc.CodeMethodNotFound, why, out)
		return
	}
	if s.tasks.Foreign(u, m, method) {
		refuseAsk(&q, jsonrpc.CodeInvalidParams, "the client does no such task for this server", out)
		return
	}
	if s.Peer.Ready {
		s.put(q, m, out)
		return
	}
	if len(s.queued) >= earlyLimit || client.TotalSize(s.queued)+len(m.Frame) > earlyBytes || s.Retain(len(m.Frame)) != nil {
		refuseAsk(&q, jsonrpc.CodeInternalError, "the client is not ready yet", out)
		return
	}
	s.queued = append(s.queued, queuedServerRequest{q, bytes.Clone(m.Frame)})
}

// cannot says why the client cannot be asked this, or "".
func (s *Requests) cannot(method mcpwire.Method) string {
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

// put writes a question to the client.
func (s *Requests) put(q serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
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
	if s.Pass(out, m, &tracing.Note{ID: q.n, Method: mcpwire.Method(q.method), During: s.OpenAt(q.from)}) == nil {
		return
	}
	if _, mine := s.serverRequests.Take(id); mine {
		refuseAsk(&q, jsonrpc.CodeInternalError, "the client does not take what it is asked", out)
	}
}

// OpenAt returns the id of the newest request of the client that waits for an upstream,
// where that matters: what the upstream asks is most likely a part of that.
func (s *Requests) OpenAt(u *upstream.Upstream) (id []byte) {
	if s.Front.Streams == nil {
		return nil
	}
	var newest uint64
	var found upstream.Call
	u.EachCall(func(at uint64, c upstream.Call) {
		if at > newest && s.made(&c) && !c.Modern {
			newest, found = at, c
		}
	})
	if newest == 0 {
		return nil
	}
	return found.ID()
}

// forgetEarly drops questions that the client has not been asked yet.
func (s *Requests) forgetEarly(match func(serverRequest) bool) {
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

// Withdraw takes back what an upstream has asked that is gone now.
func (s *Requests) Withdraw(u *upstream.Upstream, out *peer.Outgoing) {
	s.forgetEarly(func(q serverRequest) bool { return q.from == u })
	for _, q := range s.serverRequests.TakeAll(func(q serverRequest) bool { return q.from == u }) {
		s.takeBack(q.ID, q.Call.n, "the server that asked is gone", out)
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

// takeBack tells the client that it need not answer any more. The question is out of
// asks.
func (s *Requests) takeBack(id, n uint64, reason string, out *peer.Outgoing) {
	s.Send(out, upstream.Cancellation(id, reason), tracing.Note{ID: n, Method: mcpwire.Cancelled})
}

// answer writes the client's answer to a request of the server.
func (s *Requests) answer(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
	back := tracing.Note{ID: q.n, Method: mcpwire.Method(q.method)}
	if s.Trace.On() {
		back.Total = time.Duration(s.Clock.Now() - q.came)
		s.Trace.Response(tracing.Client, "client", m, tracing.Note{ID: q.n, Method: back.Method, Leg: back.Total})
	}
	if m.BothResultAndError {
		m = jsonrpc.Strict(m)
	}
	out.Edit(m.ID, out.Copy(q.ID()))
	answered(q, q.from.Send(out, m, &back), out)
}

// answered refuses a request of the server whose answer could not be written to it.
func answered(q *serverRequest, err error, out *peer.Outgoing) {
	if errors.Is(err, jsonrpc.ErrLineBreak) {
		refuseAsk(q, jsonrpc.CodeInternalError, "the client's answer could not be passed on: "+err.Error(), out)
	}
}

// refuseAsk answers a request of the server that the client cannot answer.
func refuseAsk(q *serverRequest, code int64, why string, out *peer.Outgoing) {
	frame := jsonrpc.AppendError(nil, q.ID(), code, why, nil)
	if q.method == string(mcpwire.Elicit) && code == jsonrpc.CodeInternalError {
		frame = jsonrpc.AppendResult(nil, q.ID(), []byte(`{"action":"cancel"}`))
	}
	q.from.SendFrame(out, frame, tracing.Note{ID: q.n, Method: mcpwire.Method(q.method), Status: "local"})
}

// Cancel takes back a request of an upstream.
func (s *Requests) Cancel(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.IDParam(m, "requestId")
	if err != nil || !at.Present() {
		return
	}
	their := m.Bytes(at)
	asked := func(q serverRequest) bool { return q.from == u && bytes.Equal(q.ID(), their) }
	id, q, ok := s.serverRequests.TakeIf(asked)
	if !ok {
		s.forgetEarly(asked)
		s.retract(asked)
		return
	}
	num := out.Number(id)
	out.Edit(at, num)
	s.Pass(out, m, &tracing.Note{ID: q.n, Method: mcpwire.Cancelled})
}

// MalformedAnswer answers an upstream's question whose answer could not be read.
func (s *Requests) MalformedAnswer(m *jsonrpc.Message, err error, out *peer.Outgoing) bool {
	id, found := jsonrpc.AnsweredID(m, err)
	if !found {
		return false
	}
	q, ok := s.serverRequests.Take(id)
	if ok {
		s.Mu.Lock()
		s.unanswered(&q, "the client's answer could not be passed on: "+err.Error(), out)
		s.Mu.Unlock()
	}
	return ok
}

// Answer passes the client's answer on to the upstream that asked.
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
		s.answered(&q, m, out)
		return
	}
	if q.task {
		s.tasks.LearnClients(m, q.from)
	}
	s.answer(&q, m, out)
}

// Progress passes on what the client tells about a request that an upstream made.
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
	q.from.Send(out, m, &tracing.Note{ID: q.n, Method: mcpwire.Progress})
}

// Close gives up all that is asked of the client: it is gone.
func (s *Requests) Close(out *peer.Outgoing) {
	s.endSuspensions(out)
	for _, q := range s.serverRequests.Close() {
		s.unanswered(&q, "the client is gone", out)
	}
}

// made reports whether a call is the session's.
func (s *Requests) made(c *upstream.Call) bool { return c.Caller == s.Caller }

// Held says how much is kept for a client's input.
type Held struct {
	ServerRequests int // that the client has not answered
	Rounds         int // calls that wait for what modern servers ask
	Suspended      int // calls of the modern era that wait for answers
	Bytes          int // of those
	Permits        int // calls of dangerous tools that the client may repeat
}

// Held returns how much is kept now.
func (s *Requests) Held() Held {
	return Held{s.serverRequests.Len(), len(s.rounds), len(s.suspensions.calls), s.suspensions.size, len(s.permits)}
}
