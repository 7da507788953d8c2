package httpd

import (
	"net/http"
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/budget"
)

// modern handles a message of the modern era, which stands for itself: headers have to
// agree with it, and err is what its envelope lacks.
func (e *Endpoint) modern(w http.ResponseWriter, r *http.Request, who Caller, m *jsonrpc.Message, envelope *mcpwire.Envelope, err error, in *budget.Reader) {
	if m.Kind == jsonrpc.Notification {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	method := mcpwire.MethodOf(m.Text(m.Method))
	if why := mismatch(r.Header, m, envelope, method, err); why != nil {
		refuseWith(w, http.StatusBadRequest, idOf(m), why)
		return
	}
	s, err := e.shared(who)
	if err != nil {
		reject(w, idOf(m), err)
		return
	}
	if method == mcpwire.ToolsCall {
		if why := paramMismatch(r.Header, m, s.router.InputSchema); why != nil {
			e.leave(s)
			refuseWith(w, http.StatusBadRequest, idOf(m), why)
			return
		}
	}
	to := e.newStream(1, s.account)
	c, err := s.open(m, method, envelope.Token.Value, to, in)
	if err == nil && method == mcpwire.Listen {
		if err = s.account.Take(budget.Streams, 1); err != nil {
			s.drop(c)
		}
	}
	if err != nil {
		e.leave(s)
		reject(w, idOf(m), err)
		return
	}
	e.ask(w, r, s, func() { s.handle(c.rename(m, envelope.Token.Value)) }, to, []*call{c})
}

// rename gives a request the id that we have given it, and a token, if it has one at that
// place.
func (c *call) rename(m *jsonrpc.Message, token jsonrpc.Span) *jsonrpc.Message {
	n := number(c.n)
	edits := []jsonrpc.Edit{{Span: m.ID, New: n}}
	if token.Present() {
		edits = append(edits, jsonrpc.Edit{Span: token, New: n})
	}
	m.Edit(edits...)
	return m
}

func number(n uint64) []byte { return strconv.AppendUint(nil, n, 10) }
