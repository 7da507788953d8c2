package router

import (
	"bytes"
	"errors"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/tracing"
)

// cancelled takes back a request that the server made to the client.
func (u *Upstream) cancelled(m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.IDParam(m, "requestId")
	s := u.private.owner.Load()
	if err != nil || !at.Present() || s == nil {
		return
	}
	their := m.Bytes(at)
	asked := func(q serverRequest) bool { return q.from == u && bytes.Equal(q.id(), their) }
	id, q, ok := s.input.serverRequests.TakeIf(asked)
	if !ok {
		s.forgetEarly(asked)
		s.retract(asked)
		return
	}
	num := out.Number(id)
	out.Edit(at, num)
	s.pass(out, m, &tracing.Note{ID: q.n, Method: mcpwire.Cancelled})
}

// request handles what the server asks: a ping is answered here, the rest is the
// client's to answer.
func (u *Upstream) request(m *jsonrpc.Message, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	n := u.r.trace.Next()
	u.r.trace.Request(tracing.Upstream, u.Name, m, n, method, jsonrpc.Span{})
	if method == mcpwire.Ping {
		u.sendFrame(out, jsonrpc.AppendResult(nil, m.Bytes(m.ID), []byte("{}")), tracing.Note{ID: n, Method: method, Status: "local"})
		return
	}
	s := u.private.owner.Load()
	if s == nil {
		const why = "no client is connected, or several are and this server cannot say which it means"
		u.sendFrame(out, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: n, Method: method})
		return
	}
	if !s.knows(u) {
		const why = "the client may use nothing of this server"
		u.sendFrame(out, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: n, Method: method})
		return
	}
	s.ask(u, m, out, method, n)
}

// answer writes the client's answer to a request of the server.
func (u *Upstream) answer(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) {
	back := tracing.Note{ID: q.n, Method: mcpwire.Method(q.method)}
	if u.r.trace.On() {
		back.Total = time.Duration(u.r.clock.Now() - q.came)
		u.r.trace.Response(tracing.Client, "client", m, tracing.Note{ID: q.n, Method: back.Method, Leg: back.Total})
	}
	if m.BothResultAndError {
		m = strict(m)
	}
	out.Edit(m.ID, out.Copy(q.id()))
	u.answered(q, u.send(out, m, &back), out)
}

// answered refuses a request of the server whose answer could not be written to it.
func (u *Upstream) answered(q *serverRequest, err error, out *peer.Outgoing) {
	if errors.Is(err, jsonrpc.ErrLineBreak) {
		u.refuseAsk(q, jsonrpc.CodeInternalError, "the client's answer could not be passed on: "+err.Error(), out)
	}
}

// refuseAsk answers a request of the server that the client cannot answer.
func (u *Upstream) refuseAsk(q *serverRequest, code int64, why string, out *peer.Outgoing) {
	frame := jsonrpc.AppendError(nil, q.id(), code, why, nil)
	if q.method == string(mcpwire.Elicit) && code == jsonrpc.CodeInternalError {
		frame = jsonrpc.AppendResult(nil, q.id(), []byte(`{"action":"cancel"}`))
	}
	u.sendFrame(out, frame, tracing.Note{ID: q.n, Method: mcpwire.Method(q.method), Status: "local"})
}
