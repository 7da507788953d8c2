package router

import (
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/tracing"
)

// request handles what the server asks: a ping is answered here, the rest is the
// client's to answer.
func (u *Upstream) request(m *jsonrpc.Message, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	n := u.env.trace.Next()
	u.env.trace.Request(tracing.Upstream, u.Name, m, n, method, jsonrpc.Span{})
	if method == mcpwire.Ping {
		u.sendFrame(out, jsonrpc.AppendResult(nil, m.Bytes(m.ID), []byte("{}")), tracing.Note{ID: n, Method: method, Status: "local"})
		return
	}
	owner := u.owner()
	if owner == nil {
		const why = "no client is connected, or several are and this server cannot say which it means"
		u.sendFrame(out, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: n, Method: method})
		return
	}
	owner.Request(u, m, n, out)
}
