package httpd

import (
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
)

// legacy handles a message of the legacy era.
func (e *Endpoint) legacy(w http.ResponseWriter, r *http.Request, who Caller, m *jsonrpc.Message, in *budget.Reader) {
	if !versionKnown(w, r, idOf(m)) {
		return
	}
	method := mcpwire.MethodOf(m.Text(m.Method))
	if method == mcpwire.Initialize && m.Kind == jsonrpc.Request && r.Header.Get(httpheader.Session) == "" {
		e.initialize(w, r, who, m, in)
		return
	}
	s := e.session(w, r, who, idOf(m))
	if s == nil {
		return
	}
	if m.Kind == jsonrpc.Request {
		e.legacyRequest(w, r, s, m, method, in)
		return
	}
	defer e.leave(s)
	frame := m.Frame
	if string(m.Text(m.Method)) == string(mcpwire.Cancelled) {
		frame = s.cancelled(m)
	}
	s.deliver(frame)
	w.WriteHeader(http.StatusAccepted)
}

// versionKnown answers requests with a header that names a revision of no use here.
func versionKnown(w http.ResponseWriter, r *http.Request, id []byte) bool {
	version := r.Header.Get(httpheader.Version)
	if version == "" || mcpwire.Supported(version) {
		return true
	}
	refuse(w, http.StatusBadRequest, id, codeInvalidRequest, "the header MCP-Protocol-Version names a revision that toolman does not speak: "+sanitize.Cut(version, maxShown))
	return false
}

// initialize makes a session, which stays if that goes well.
func (e *Endpoint) initialize(w http.ResponseWriter, r *http.Request, who Caller, m *jsonrpc.Message, in *budget.Reader) {
	s, err := e.fresh(who)
	if err != nil {
		reject(w, idOf(m), err)
		return
	}
	defer func() {
		if s.agreed() == "" {
			e.end(s)
		}
	}()
	e.legacyRequest(w, r, s, m, mcpwire.Initialize, in)
}

// legacyRequest serves a request in a session, and leaves that.
func (e *Endpoint) legacyRequest(w http.ResponseWriter, r *http.Request, s *session, m *jsonrpc.Message, method mcpwire.Method, in *budget.Reader) {
	to := e.newStream(1, s.account)
	c, err := s.open(m, method, jsonrpc.Span{}, to, in)
	if err != nil {
		e.leave(s)
		reject(w, idOf(m), err)
		return
	}
	e.ask(w, r, s, func() { s.handle(c.rename(m, jsonrpc.Span{})) }, to, []*call{c})
}

// session returns the session that a request names, which is busy until leave; it answers
// when there is none.
func (e *Endpoint) session(w http.ResponseWriter, r *http.Request, who Caller, id []byte) *session {
	name := r.Header.Get(httpheader.Session)
	if name == "" {
		refuse(w, http.StatusBadRequest, id, codeInvalidRequest,
			"begin with initialize and repeat the Mcp-Session-Id that it brings, or say in params._meta and headers that the request is of revision "+mcpwire.Newest)
		return nil
	}
	s := e.sessions.named(name, who)
	if s == nil {
		refuse(w, http.StatusNotFound, id, codeNoSession, "there is no such session, or it has ended; begin a new one with initialize")
	}
	return s
}

// cancelled returns the client's cancellation of a request with the id that the router
// knows it by.
func (s *session) cancelled(m *jsonrpc.Message) []byte {
	at, err := mcpwire.IDParam(m, "requestId")
	if err != nil || !at.Present() {
		return m.Frame
	}
	return jsonrpc.AppendSplice(nil, m.Frame, jsonrpc.Edit{Span: at, New: s.callOff(m.Bytes(at))})
}

// callOff forgets the request that the client calls by this id, and returns the one that
// the router knows it by. There will be no answer: the stream that it waits on ends.
func (s *session) callOff(id []byte) []byte {
	c := s.ours(id)
	if c == nil {
		return number(0) // nobody's
	}
	s.drop(c)
	c.to.forgo()
	return number(c.n)
}

// get serves what a client of the legacy era is told outside of its requests.
func (e *Endpoint) get(w http.ResponseWriter, r *http.Request, who Caller) {
	if !httpheader.Accepts(r.Header, httpheader.EventStream) {
		refuse(w, http.StatusNotAcceptable, nil, codeInvalidRequest, "the Accept header has to name text/event-stream")
		return
	}
	if !versionKnown(w, r, nil) {
		return
	}
	s := e.session(w, r, who, nil)
	if s == nil {
		return
	}
	defer e.leave(s)
	if err := s.account.Take(budget.Streams, 1); err != nil {
		reject(w, nil, err)
		return
	}
	if !s.listen(true) {
		s.account.Give(budget.Streams, 1)
		refuse(w, http.StatusConflict, nil, codeInvalidRequest, "the session has a GET stream already; it has one at a time")
		return
	}
	over := func(bool) {
		s.listen(false)
		s.account.Give(budget.Streams, 1)
	}
	o := newResponse(w, e)
	e.detachable(o, r, s, s.push, over)
	if o.write(nil) != nil || o.serve(r.Context(), s.push) != continued {
		over(false)
	}
}

// listen notes that somebody hears what is pushed, or not any more; only one can.
func (s *session) listen(on bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.listened != on
	s.listened = on
	if s.ended {
		s.push.leave()
	}
	return free
}

// delete ends a session (2025-11-25, Session Management).
func (e *Endpoint) delete(w http.ResponseWriter, r *http.Request, who Caller) {
	if !versionKnown(w, r, nil) {
		return
	}
	s := e.session(w, r, who, nil)
	if s == nil {
		return
	}
	e.end(s)
	e.leave(s)
	w.WriteHeader(http.StatusNoContent)
}
