package httpd

import (
	"net/http"
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// modern handles a message of the modern era, which stands for itself: headers have to
// agree with it, and err is what its envelope lacks.
func (e *Endpoint) modern(w http.ResponseWriter, r *http.Request, who Caller, m *jsonrpc.Message, envelope *mcpwire.Envelope, err error) {
	if m.Kind == jsonrpc.Notification {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	method := mcpwire.MethodOf(m.Text(m.Method))
	if why := mismatch(r.Header, m, envelope, method, err); why != nil {
		refuseWith(w, http.StatusBadRequest, idOf(m), why)
		return
	}
	s := e.sessions.shared(who, e.newSession)
	if s == nil {
		unavailable(w, "there are too many clients; try again later")
		return
	}
	defer e.leave(s)
	if method == mcpwire.ToolsCall {
		if why := paramMismatch(r.Header, m, s.router.InputSchema); why != nil {
			refuseWith(w, http.StatusBadRequest, idOf(m), why)
			return
		}
	}
	to := e.newStream(1)
	c := s.open(m, method, envelope.Token.Value, to)
	if c == nil {
		unavailable(w, "too many requests are open; wait for their answers")
		return
	}
	e.ask(w, r, s, func() { s.handle(ours(m, c, envelope.Token.Value)) }, to, []*call{c})
}

// ours returns a request with the id that we have given it, and a token, if it has one
// at that place.
func ours(m *jsonrpc.Message, c *call, token jsonrpc.Span) *jsonrpc.Message {
	n := number(c.n)
	edits := []jsonrpc.Edit{{Span: m.ID, New: n}}
	if token.Present() {
		edits = append(edits, jsonrpc.Edit{Span: token, New: n})
	}
	return m.Edited(edits...)
}

func number(n uint64) []byte { return strconv.AppendUint(nil, n, 10) }
