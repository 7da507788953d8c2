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
func (u *Upstream) cancelled(m *jsonrpc.Message, b *peer.Batch) {
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
	num := b.Number(id)
	b.Edit(at, num)
	s.pass(b, m, &tracing.Note{ID: q.n, Method: mcpwire.Cancelled})
}

// request handles what the server asks: a ping is answered here, the rest is the
// client's to answer.
func (u *Upstream) request(m *jsonrpc.Message, b *peer.Batch) {
	method := mcpwire.Method(m.Text(m.Method))
	n := u.r.trace.Next()
	u.r.trace.Request(tracing.Upstream, u.Name, m, n, method, jsonrpc.Span{})
	if method == mcpwire.Ping {
		u.sendFrame(b, jsonrpc.AppendResult(nil, m.Bytes(m.ID), []byte("{}")), tracing.Note{ID: n, Method: method, Status: "local"})
		return
	}
	s := u.private.owner.Load()
	if s == nil {
		const why = "no client is connected, or several are and this server cannot say which it means"
		u.sendFrame(b, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: n, Method: method})
		return
	}
	if !s.knows(u) {
		const why = "the client may use nothing of this server"
		u.sendFrame(b, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: n, Method: method})
		return
	}
	s.ask(u, m, b, method, n)
}

// answer writes the client's answer to a request of the server.
func (u *Upstream) answer(q *serverRequest, m *jsonrpc.Message, b *peer.Batch) {
	back := tracing.Note{ID: q.n, Method: mcpwire.Method(q.method)}
	if u.r.trace.On() {
		back.Total = time.Duration(u.r.clock.now() - q.came)
		u.r.trace.Response(tracing.Client, "client", m, tracing.Note{ID: q.n, Method: back.Method, Leg: back.Total})
	}
	if m.Loose {
		m = strict(m)
	}
	b.Edit(m.ID, b.Copy(q.id()))
	u.answered(q, u.send(b, m, &back), b)
}

// answered refuses a request of the server whose answer could not be written to it.
func (u *Upstream) answered(q *serverRequest, err error, b *peer.Batch) {
	if errors.Is(err, jsonrpc.ErrLineBreak) {
		u.refuseAsk(q, jsonrpc.CodeInternalError, "the client's answer could not be passed on: "+err.Error(), b)
	}
}

// refuseAsk answers a request of the server that the client cannot answer.
func (u *Upstream) refuseAsk(q *serverRequest, code int64, why string, b *peer.Batch) {
	frame := jsonrpc.AppendError(nil, q.id(), code, why, nil)
	if q.method == string(mcpwire.Elicit) && code == jsonrpc.CodeInternalError {
		frame = jsonrpc.AppendResult(nil, q.id(), []byte(`{"action":"cancel"}`))
	}
	u.sendFrame(b, frame, tracing.Note{ID: q.n, Method: mcpwire.Method(q.method), Status: "local"})
}
