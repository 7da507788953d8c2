package httpd

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/router/budget"
)

// post handles a POSTed message. The message itself tells its era.
func (x *exchange) post() {
	if !httpheader.Accepts(x.r.Header, httpheader.JSON) || !httpheader.Accepts(x.r.Header, httpheader.EventStream) {
		x.refuse(http.StatusNotAcceptable, nil, codeInvalidRequest, "the Accept header must contain application/json and text/event-stream")
		return
	}
	if httpheader.MediaType(x.r.Header) != httpheader.JSON {
		x.refuse(http.StatusUnsupportedMediaType, nil, codeInvalidRequest, "the Content-Type of a message must be application/json")
		return
	}
	x.body = x.sessions.Body(x.w, x.r, &x.client)
	defer x.body.Close()
	text, err := x.bodies.Read(x.body, x.r.ContentLength)
	defer x.bodies.Put(text) // what is kept of it is copied
	if err != nil {
		x.unreadBody(err)
		return
	}
	text = bytes.Trim(text, " \t\r\n")
	claimsModern := mcpwire.EraOf(x.r.Header.Get(httpheader.Version)) == mcpwire.Modern
	var m jsonrpc.Message
	if err := jsonrpc.Scan(text, &m); err != nil {
		if len(text) > 0 && text[0] == '[' && jsonrpc.Valid(text) && !claimsModern {
			jsonrpc.OneLine(text)
			x.batch(text)
			return
		}
		x.notAMessage(&m, err)
		return
	}
	m.OneLine() // servers on pipes take one message a line
	var envelope mcpwire.Envelope
	err = envelope.Read(&m)
	switch {
	case m.Kind != jsonrpc.Response && envelope.Claims():
		x.modern(&m, &envelope, err)
	case claimsModern:
		x.noEnvelope(&m)
	default:
		x.legacy(&m)
	}
}

// unreadBody answers a request whose body could not be read.
func (x *exchange) unreadBody(err error) {
	long, tooLong := errors.AsType[*http.MaxBytesError](err)
	_, limit := errors.AsType[*budget.LimitError](err)
	switch {
	case tooLong:
		x.refuse(http.StatusRequestEntityTooLarge, nil, codeInvalidRequest, fmt.Sprintf("the message is longer than the limit of %d bytes", long.Limit))
	case limit:
		x.w.Header().Set("Connection", "close") // the rest of the body is not read
		x.reject(nil, err)
	default:
		x.refuse(http.StatusBadRequest, nil, codeInvalidRequest, "the request body is incomplete")
	}
}

// notAMessage answers a body that is no message.
func (x *exchange) notAMessage(m *jsonrpc.Message, err error) {
	id, code := requestID(m), int64(codeInvalidRequest)
	if syntax, ok := errors.AsType[*jsonrpc.SyntaxError](err); ok && syntax.Deep {
		id = jsonrpc.DeepID(m, err)
	} else if ok {
		id, code = nil, jsonrpc.CodeParseError
	}
	x.refuse(http.StatusBadRequest, id, code, err.Error())
}

// requestID returns the ID under which a message is answered; nil if it has none.
func requestID(m *jsonrpc.Message) []byte {
	if !m.HasID() || m.Kind == jsonrpc.Response {
		return nil
	}
	return m.Bytes(m.ID)
}

// noEnvelope answers a message that only its header says to be of the modern era.
func (x *exchange) noEnvelope(m *jsonrpc.Message) {
	switch {
	case m.Kind == jsonrpc.Notification:
		x.w.WriteHeader(http.StatusAccepted) // in 2026-07-28 no client notification has a meaning over HTTP
	case m.Kind == jsonrpc.Response:
		x.refuse(http.StatusBadRequest, nil, codeInvalidRequest, "clients send no responses in revision "+mcpwire.Newest)
	case string(m.Text(m.Method)) == string(mcpwire.Initialize):
		x.refuse(http.StatusBadRequest, requestID(m), mcpwire.CodeHeaderMismatch,
			"Header mismatch: MCP-Protocol-Version header value '"+mcpwire.Newest+"' is of a revision that has no initialize")
	default:
		x.refuse(http.StatusBadRequest, requestID(m), jsonrpc.CodeInvalidParams, "params._meta has no "+mcpwire.KeyVersion+", which the header MCP-Protocol-Version promises")
	}
}

// modern handles a message of the modern era. Its headers have to agree with it; err is what its
// envelope lacks.
func (x *exchange) modern(m *jsonrpc.Message, envelope *mcpwire.Envelope, err error) {
	if m.Kind == jsonrpc.Notification {
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	method := mcpwire.MethodOf(m.Text(m.Method))
	if why := mismatch(x.r.Header, m, envelope, method, err); why != nil {
		x.refuseWith(http.StatusBadRequest, requestID(m), why)
		return
	}
	s, err := x.sessions.AcquireOrNew(x.r.Context(), x.client.Key(), &x.client)
	if err != nil {
		x.reject(requestID(m), err)
		return
	}
	defer s.Release()
	x.request(s, m, method)
}

// request serves a request in a session.
func (x *exchange) request(s *session, m *jsonrpc.Message, method mcpwire.Method) {
	to := x.newStream(1, s.Account)
	c, err := s.open(x, m, method, to)
	if err == nil && method == mcpwire.Listen {
		if err = s.Account.Take(budget.Streams, 1); err != nil {
			s.Close([]byte(c.routerID))
		}
	}
	if err != nil {
		x.reject(requestID(m), err)
		return
	}
	x.answer(s, to, []*call{c}, func() {
		if c.renamed {
			m.Edit(jsonrpc.Edit{Span: m.ID, New: []byte(c.routerID)})
		}
		s.Handle(m)
	})
}

// answer passes requests to the router with deliver, and serves the stream of their answers.
func (x *exchange) answer(s *session, to *stream, calls []*call, deliver func()) {
	listens := calls[0].method == mcpwire.Listen
	if listens {
		s.AddStream(1)
	} else {
		x.calls.Add(1)
	}
	deliver()
	if calls[0].method == mcpwire.Initialize && (s.negotiated() != "" || x.o.LateAnswers) {
		x.w.Header().Set(httpheader.Session, s.id)
	}
	o := x.respond(s, to, listens)
	if s.resumable() && !listens && len(calls) == 1 && (s.modern || !calls[0].renamed) {
		o.resumeID = resumeID(calls[0].id)
	}
	o.serve(func(complete bool) {
		to.abandon()
		if listens {
			s.AddStream(-1)
			s.Account.Give(budget.Streams, 1)
		} else {
			x.calls.Add(-1)
		}
		if complete || !s.modern {
			return // 2025-11-25, Transports: a disconnect "SHOULD NOT be interpreted as the client cancelling its request"
		}
		for _, c := range calls {
			s.Cancel(c.routerID, c)
		}
	})
}
