package httpd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/router/budget"
)

// post handles a POSTed message. Of which era that is, it says itself.
func (e *Endpoint) post(w http.ResponseWriter, r *http.Request, who Caller) {
	if !httpheader.Accepts(r.Header, httpheader.JSON) || !httpheader.Accepts(r.Header, httpheader.EventStream) {
		refuse(w, http.StatusNotAcceptable, nil, codeInvalidRequest, "the Accept header has to name application/json and text/event-stream")
		return
	}
	if httpheader.MediaType(r.Header) != httpheader.JSON {
		refuse(w, http.StatusUnsupportedMediaType, nil, codeInvalidRequest, "the Content-Type of a message is application/json")
		return
	}
	in := who.Client.Account.Reader(http.MaxBytesReader(w, r.Body, e.o.MaxBody))
	defer in.Close()
	room, ok := e.body(w, r, in)
	defer e.bodies.Put(room) // what is kept of it is copied
	if !ok {
		return
	}
	body := bytes.Trim(room, " \t\r\n")
	var m jsonrpc.Message
	if err := jsonrpc.Scan(body, &m); err != nil {
		if isArray(body) && mcpwire.EraOf(r.Header.Get(httpheader.Version)) != mcpwire.Modern {
			jsonrpc.OneLine(body)
			e.batch(w, r, who, body, in)
			return
		}
		unreadable(w, &m, err)
		return
	}
	jsonrpc.OneLine(body) // servers on pipes take one message a line
	var envelope mcpwire.Envelope
	err := envelope.Read(&m)
	switch {
	case m.Kind != jsonrpc.Response && envelope.Claims():
		e.modern(w, r, who, &m, &envelope, err, in)
	case mcpwire.EraOf(r.Header.Get(httpheader.Version)) == mcpwire.Modern:
		unclaimed(w, &m)
	default:
		e.legacy(w, r, who, &m, in)
	}
}

// body reads a request's body, and answers when it cannot be had.
func (e *Endpoint) body(w http.ResponseWriter, r *http.Request, in io.Reader) ([]byte, bool) {
	text, err := e.bodies.Read(in, r.ContentLength)
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		refuse(w, http.StatusRequestEntityTooLarge, nil, codeInvalidRequest, fmt.Sprintf("the message is over the limit of %d bytes", e.o.MaxBody))
		return text, false
	}
	if _, limit := errors.AsType[*budget.LimitError](err); limit {
		w.Header().Set("Connection", "close") // the rest of the body is not read
		reject(w, nil, err)
		return text, false
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, nil, codeInvalidRequest, "the body of the request did not come whole")
		return text, false
	}
	return text, true
}

func isArray(body []byte) bool { return len(body) > 0 && body[0] == '[' && jsonrpc.Valid(body) }

// unreadable answers what is no message.
func unreadable(w http.ResponseWriter, m *jsonrpc.Message, err error) {
	switch syntax, ok := errors.AsType[*jsonrpc.SyntaxError](err); {
	case ok && syntax.Deep:
		refuse(w, http.StatusBadRequest, jsonrpc.DeepID(m, err), codeInvalidRequest, err.Error())
	case ok:
		refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeParseError, err.Error())
	default:
		refuse(w, http.StatusBadRequest, idOf(m), codeInvalidRequest, err.Error())
	}
}

// idOf returns the id to answer a message under, nil when it has none that may be.
func idOf(m *jsonrpc.Message) []byte {
	if !m.HasID() || m.Kind == jsonrpc.Response {
		return nil
	}
	return m.Bytes(m.ID)
}

// unclaimed answers a message that is of the modern era only by its header.
func unclaimed(w http.ResponseWriter, m *jsonrpc.Message) {
	switch {
	case m.Kind == jsonrpc.Notification:
		w.WriteHeader(http.StatusAccepted) // 2026-07-28 gives clients no notification that means anything over HTTP
	case m.Kind == jsonrpc.Response:
		refuse(w, http.StatusBadRequest, nil, codeInvalidRequest, "clients send no responses in revision "+mcpwire.Newest)
	case string(m.Text(m.Method)) == string(mcpwire.Initialize):
		refuse(w, http.StatusBadRequest, idOf(m), mcpwire.CodeHeaderMismatch,
			"Header mismatch: MCP-Protocol-Version header value '"+mcpwire.Newest+"' is of a revision that has no initialize")
	default:
		refuse(w, http.StatusBadRequest, idOf(m), jsonrpc.CodeInvalidParams, "params._meta has no "+mcpwire.KeyVersion+", which the header MCP-Protocol-Version promises")
	}
}

// ask serves the answer to requests, of which there are as many as calls, once deliver has
// given them to the router, and leaves the session.
func (e *Endpoint) ask(w http.ResponseWriter, r *http.Request, s *session, deliver func(), to *stream, calls []*call) {
	defer e.leave(s)
	o := newResponse(w, e)
	listens := calls[0].method == mcpwire.Listen
	over := func(whole bool) {
		to.leave()
		if listens {
			s.account.Give(budget.Streams, 1)
		} else {
			e.calls.Add(-1)
		}
		if whole || !s.many {
			return // 2025-11-25, Transports: a disconnect "SHOULD NOT be interpreted as the client cancelling its request"
		}
		for _, c := range calls {
			s.cancel(c)
		}
	}
	if listens {
		e.detachable(o, r, s, to, over)
	} else {
		e.calls.Add(1)
	}
	deliver()
	if s.agreed() != "" && calls[0].method == mcpwire.Initialize {
		w.Header().Set(httpheader.Session, s.id)
	}
	if end := o.serve(r.Context(), to); end != continued {
		over(end == complete)
	}
}
