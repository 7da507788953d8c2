package bridge

import (
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/router/budget"
	"toolman/router/catalog"
)

// A request is one to call a tool.
type request struct {
	server, tool string
	arguments    []byte
	correlation  string
	progress     bool
	kept         *budget.Reader // counts what is kept for it; nil: nothing does
}

// callTool serves POST /call_tool.
func (b *Bridge) callTool(w http.ResponseWriter, r *http.Request) {
	who, done, f := b.admit(r)
	if f != nil {
		writeFailure(w, f, correlationOf(r, ""))
		return
	}
	defer done()
	in := b.in(w, r, who)
	defer in.Close()
	q, f := b.callRequest(r, in)
	w.Header().Set(headerCorrelation, q.correlation)
	b.o.Correlate(r, q.correlation)
	if f != nil {
		writeFailure(w, f, q.correlation)
		return
	}
	s, f := b.enter(r.Context(), who)
	if f != nil {
		writeFailure(w, f, q.correlation)
		return
	}
	defer b.leave(s)
	c, f := b.call(s, q)
	switch {
	case f != nil:
		b.log(s, &q, nil, f)
		writeFailure(w, f, q.correlation)
	case b.answer(w, r, c):
		b.log(s, &q, c.result, c.outcome())
	default:
		s.cancel(c)
		b.log(s, &q, nil, gone(r.Context()))
	}
}

// callRequest reads the request; it has a correlation id in any case.
func (b *Bridge) callRequest(r *http.Request, in *budget.Reader) (q request, f *Failure) {
	q.progress, q.kept = httpheader.AcceptsAny(r.Header, httpheader.EventStream), in
	p, f := b.read(r, in, "server", "tool", "arguments", "correlation_id")
	if f != nil {
		q.correlation = correlationOf(r, "")
		return q, f
	}
	said, f := p.text("correlation_id")
	q.correlation = correlationOf(r, said)
	if f != nil {
		return q, f
	}
	if q.server, f = p.text("server"); f != nil {
		return q, f
	}
	if q.tool, f = p.text("tool"); f != nil {
		return q, f
	}
	if q.server == "" || q.tool == "" {
		return q, fail(BadRequest, `the request needs "server" and "tool"; GET /tools lists them`)
	}
	q.arguments, f = p.object("arguments")
	return q, f
}

// call begins a call. What is wrong before that is a Failure.
func (b *Bridge) call(s *session, q request) (*call, *Failure) {
	e := s.router.FindTool(q.server, q.tool)
	name := q.server + ":" + q.tool // which nothing has, but the router refuses and audits it, and knows what is similar
	if e == nil {
		if f := absent(s, q.server); f != nil {
			return nil, f
		}
	} else {
		name = e.Name
		if s.router.Verdict(e) == catalog.Active {
			if f := b.schemas.check(e, q.arguments); f != nil {
				s.router.Misfit(e, q.correlation, q.arguments)
				return nil, f
			}
		}
	}
	params := append([]byte(nil), `"name":`...)
	params = jsonrpc.AppendQuoted(params, name)
	params = append(append(params, `,"arguments":`...), q.arguments...)
	return s.begin(&ask{method: mcpwire.ToolsCall, params: append(params, ','), correlation: q.correlation, progress: q.progress, kept: q.kept}), nil
}

// answer answers a request with what becomes of its call; false: the client is gone.
func (b *Bridge) answer(w http.ResponseWriter, r *http.Request, c *call) bool {
	if c.progress != nil {
		return b.stream(w, r, c)
	}
	if !c.wait(r.Context()) {
		if expired(r.Context()) {
			writeFailure(w, gone(r.Context()), c.ask.correlation)
		}
		return false
	}
	f := c.outcome()
	if f != nil {
		writeFailure(w, f, c.ask.correlation)
	} else {
		writeText(w, http.StatusOK, c.answered(), c.ask.kept)
	}
	return true
}

// outcome says what is wrong with the answer, which has come.
func (c *call) outcome() *Failure {
	if c.failure != nil {
		return c.failure
	}
	m := jsonrpc.Message{Frame: c.result, Result: jsonrpc.Span{Hi: len(c.result)}}
	if r, err := mcpwire.ResultOf(&m); err == nil && r.ResultType(&m) == mcpwire.ResultInputRequired {
		return fail(UpstreamError, "the server needs an answer of a person before it can go on, and a program cannot be asked; call the tool through MCP")
	}
	return nil
}

// answered is the answer with the call's result, byte for byte.
func (c *call) answered() []byte {
	text := append(make([]byte, 0, len(c.result)+len(c.ask.correlation)+64), `{"result":`...)
	text = append(append(text, c.result...), `,"correlation_id":`...)
	return append(jsonrpc.AppendQuoted(text, c.ask.correlation), '}', '\n')
}
