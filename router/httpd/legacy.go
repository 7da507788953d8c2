package httpd

import (
	"errors"
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
)

// legacy handles a message of the legacy era.
func (x *exchange) legacy(m *jsonrpc.Message) {
	method, isRequest := mcpwire.MethodOf(m.Text(m.Method)), m.Kind == jsonrpc.Request
	if method == mcpwire.Initialize && isRequest && x.r.Header.Get(httpheader.Session) == "" {
		if x.knownVersion(requestID(m)) {
			x.initialize(m)
		}
		return
	}
	s := x.session(requestID(m))
	if s == nil {
		return
	}
	defer s.Release()
	if isRequest {
		x.request(s, m, method)
		return
	}
	if method == mcpwire.Cancelled {
		s.cancelled(m)
	}
	s.Handle(m)
	s.SaveChanges()
	x.w.WriteHeader(http.StatusAccepted)
}

// knownVersion answers requests with a header that names an unknown revision, and reports whether
// it did not.
func (x *exchange) knownVersion(id []byte) bool {
	version := x.r.Header.Get(httpheader.Version)
	known := version == "" || mcpwire.Supported(version)
	if !known {
		x.refuse(http.StatusBadRequest, id, codeInvalidRequest, "the header MCP-Protocol-Version names a revision that toolman does not speak: "+sanitize.Cut(version, maxShown))
	}
	return known
}

// initialize makes a session. It stays if initialize succeeds.
func (x *exchange) initialize(m *jsonrpc.Message) {
	s, err := x.sessions.New(x.o.NewID(&x.client), &x.client)
	if err != nil {
		x.reject(requestID(m), err)
		return
	}
	x.request(s, m, mcpwire.Initialize)
	if s.negotiated() == "" {
		s.End(nil)
	}
	s.Release()
}

// session acquires the session that a request names. If there is none, it answers the request and
// returns nil.
func (x *exchange) session(id []byte) *session {
	if !x.knownVersion(id) {
		return nil
	}
	name := x.r.Header.Get(httpheader.Session)
	if name == "" {
		x.refuse(http.StatusBadRequest, id, codeInvalidRequest,
			"begin with initialize and repeat the Mcp-Session-Id of its response, or send a request of revision "+mcpwire.Newest)
		return nil
	}
	s, err := x.sessions.AcquireKept(x.r.Context(), name, &x.client)
	if err != nil {
		x.reject(id, err)
		return nil
	}
	if s == nil {
		x.refuse(http.StatusNotFound, id, codeNoSession, "there is no such session, or it has ended; begin a new one with initialize")
	}
	return s
}

// get serves the messages of a session that belong to no request.
func (x *exchange) get() {
	if !httpheader.Accepts(x.r.Header, httpheader.EventStream) {
		x.refuse(http.StatusNotAcceptable, nil, codeInvalidRequest, "the Accept header must contain text/event-stream")
		return
	}
	s := x.session(nil)
	if s == nil {
		return
	}
	defer s.Release()
	if last := x.r.Header.Get(httpheader.LastEvent); isResumeID(last) && s.Recorded() {
		x.resume(s, last)
		return
	}
	if err := s.Account.Take(budget.Streams, 1); err != nil {
		x.reject(nil, err)
		return
	}
	if !s.setListening(true) {
		s.Account.Give(budget.Streams, 1)
		x.refuse(http.StatusConflict, nil, codeInvalidRequest, "the session has a GET stream already; only one is allowed at a time")
		return
	}
	s.AddStream(1)
	o := x.respond(s, s.push, true)
	o.write(nil) // if it fails, so does serve
	o.serve(func(bool) {
		s.AddStream(-1)
		s.setListening(false)
		s.Account.Give(budget.Streams, 1)
	})
}

// delete ends a session (2025-11-25, Session Management).
func (x *exchange) delete() {
	if s := x.session(nil); s != nil {
		s.End(nil)
		s.Release()
		x.w.WriteHeader(http.StatusNoContent)
	}
}

// maxBatch is how many messages a client may POST at once.
const maxBatch = 256

// batch handles a JSON-RPC batch, which only sessions of revision 2025-03-26 have. A batch with an
// element that is no message is refused: an error response for it would have no ID.
func (x *exchange) batch(body []byte) {
	s := x.session(nil)
	if s == nil {
		return
	}
	defer s.Release()
	if s.negotiated() != mcpwire.V2025_03_26 {
		x.refuse(http.StatusBadRequest, nil, codeInvalidRequest, "only revision "+mcpwire.V2025_03_26+" has batches; send one message at a time")
		return
	}
	to := x.newStream(0, s.Account)
	calls, err := s.openBatch(x, body, to)
	if err != nil {
		for _, c := range calls {
			s.Close([]byte(c.routerID))
		}
		if _, form := errors.AsType[*jsonrpc.FormError](err); form {
			x.notAMessage(&jsonrpc.Message{}, err)
		} else {
			x.reject(nil, err)
		}
		return
	}
	if len(calls) == 0 {
		s.handleBatch(body)
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	to.answers = len(calls) // nothing else has seen it yet
	x.answer(s, to, calls, func() { s.handleBatch(body) })
}

// openBatch opens the requests of a batch.
func (s *session) openBatch(x *exchange, body []byte, to *stream) (calls []*call, err error) {
	n := 0
	for at := range jsonrpc.Elements(body, jsonrpc.Span{Hi: len(body)}) {
		var m jsonrpc.Message
		if err := jsonrpc.Scan(body[at.Lo:at.Hi], &m); err != nil {
			return calls, err
		}
		method := mcpwire.MethodOf(m.Text(m.Method))
		switch n++; {
		case n > maxBatch:
			return calls, &jsonrpc.FormError{What: "a batch has at most 256 messages"}
		case method == mcpwire.Initialize:
			return calls, &jsonrpc.FormError{What: "initialize is not part of a batch"}
		case method == mcpwire.Cancelled:
			s.cancelled(&m)
		case m.Kind == jsonrpc.Request:
			c, err := s.open(x, &m, method, to)
			if err != nil {
				return calls, err
			}
			if calls = append(calls, c); c.renamed {
				return calls, &jsonrpc.FormError{What: "an open request has the ID of a request in the batch"}
			}
		}
	}
	if n == 0 {
		err = &jsonrpc.FormError{What: "a batch has at least one message"}
	}
	return calls, err
}

// cancelled closes the request that a cancellation names. It gets no answer.
func (s *session) cancelled(m *jsonrpc.Message) {
	if at, err := mcpwire.IDParam(m, "requestId"); err == nil && at.Present() {
		if c := s.Close(m.Bytes(at)); c != nil {
			c.to.expectOneLess()
		}
	}
}
