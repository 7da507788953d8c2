package httpd

import (
	"net/http"
	"slices"
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// Queue implements jsonrpc.Sender: answers go to the request that they answer, and what
// belongs to none to the client's GET stream.
func (s *session) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	err := jsonrpc.Scan(frame, &m)
	switch {
	case err == nil:
		return s.QueueMessage(&m, edits)
	case m.HasID() && !m.Method.Present():
		return s.unanswerable(jsonrpc.AppendSplice(nil, frame, edits...), err)
	}
	return s.answers(jsonrpc.AppendSplice(nil, frame, edits...)) // of a batch, in an array
}

// unanswerable answers a request whose answer is no message: it nests too deep where toolman has added
// levels to what a server wrote.
func (s *session) unanswerable(frame []byte, why error) error {
	var m jsonrpc.Message
	jsonrpc.Scan(frame, &m) // has an ID, as before
	if err := jsonrpc.Scan(jsonrpc.AppendError(nil, m.Bytes(m.ID), codeInternal, "the answer cannot be passed on: "+why.Error(), nil), &m); err != nil {
		return err
	}
	return s.answer(&m, nil)
}

// QueueMessage implements jsonrpc.Reader.
func (s *session) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	if m.Kind == jsonrpc.Response {
		return s.answer(m, edits)
	}
	return s.tell(jsonrpc.AppendSplice(nil, m.Frame, edits...))
}

// Flush implements jsonrpc.Sender. Streams are written as soon as they can.
func (s *session) Flush() {}

// During implements router.Streams.
func (s *session) During(id []byte) jsonrpc.Sender {
	if c := s.find(id); c != nil && c.to.heard() {
		return c
	}
	return nil
}

// answer gives an answer to whoever asked, under the id that that has chosen.
func (s *session) answer(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	edits = slices.Clone(edits)
	i := slices.IndexFunc(edits, func(e jsonrpc.Edit) bool { return e.Span == m.ID })
	if i < 0 {
		edits = append(edits, jsonrpc.Edit{Span: m.ID, New: m.Bytes(m.ID)})
		i = len(edits) - 1
	}
	c := s.take(edits[i].New)
	if c == nil {
		return nil // the client has gone meanwhile, or taken the request back
	}
	edits[i].New = c.id
	whole := jsonrpc.AppendSplice(s.e.bodies.Get(len(m.Frame)+len(c.id)+64), m.Frame, edits...)
	status := http.StatusOK
	switch {
	case s.many && m.Err.Present():
		status = statusOf(whole)
	case c.method == mcpwire.Initialize && m.Result.Present():
		s.initialized(whole)
	}
	return c.to.answer(whole, 1, status)
}

// initialized notes what the answer to initialize says.
func (s *session) initialized(answer []byte) {
	var m jsonrpc.Message
	if jsonrpc.Scan(answer, &m) != nil {
		return
	}
	if at, err := m.Get(m.Result, "protocolVersion"); err == nil {
		s.mu.Lock()
		s.revision = string(m.Text(at))
		s.mu.Unlock()
	}
}

// statusOf is the status of HTTP that goes with an error (2026-07-28, Streamable HTTP).
func statusOf(answer []byte) int {
	var m jsonrpc.Message
	if jsonrpc.Scan(answer, &m) != nil {
		return http.StatusOK
	}
	at, err := m.Get(m.Err, "code")
	if err != nil {
		return http.StatusOK
	}
	switch code, _ := strconv.Atoi(string(m.Bytes(at))); code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest,
		mcpwire.CodeHeaderMismatch, mcpwire.CodeMissingCapability, mcpwire.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// answers gives the answers to a batch back, in the array that they come in.
func (s *session) answers(array []byte) error {
	var m jsonrpc.Message
	var edits []jsonrpc.Edit
	var to *stream
	n := 0
	for at := range jsonrpc.Elements(array, jsonrpc.Span{Hi: len(array)}) {
		if jsonrpc.Scan(array[at.Lo:at.Hi], &m) != nil {
			continue
		}
		if c := s.take(m.Bytes(m.ID)); c != nil {
			edits = append(edits, jsonrpc.Edit{Span: jsonrpc.Span{Lo: at.Lo + m.ID.Lo, Hi: at.Lo + m.ID.Hi}, New: c.id})
			to = c.to
			n++
		}
	}
	if to == nil {
		return nil
	}
	return to.answer(jsonrpc.AppendSplice(nil, array, edits...), n, http.StatusOK)
}

// tell passes on what is no answer and belongs to no request of its own: what a
// subscription of the modern era brings, or what any client of the legacy era is told.
func (s *session) tell(frame []byte) error {
	if !s.many {
		return s.push.put(frame)
	}
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) != nil {
		return nil
	}
	at, err := mcpwire.SubscriptionOf(&m)
	if err != nil || !at.Present() {
		return nil // there is no place for it in the modern era
	}
	c := s.find(m.Bytes(at.Value))
	if c == nil {
		return nil
	}
	return c.to.put(jsonrpc.AppendSplice(nil, frame, jsonrpc.Edit{Span: at.Value, New: c.id}))
}

// Queue implements jsonrpc.Sender for what belongs to the request.
func (c *call) Queue(frame []byte, edits []jsonrpc.Edit) error {
	whole := jsonrpc.AppendSplice(nil, frame, edits...)
	if !c.s.many || c.token == nil {
		return c.to.put(whole)
	}
	var m jsonrpc.Message
	if jsonrpc.Scan(whole, &m) == nil && string(m.Text(m.Method)) == string(mcpwire.Progress) {
		if at, err := mcpwire.IDParam(&m, "progressToken"); err == nil && at.Present() {
			whole = jsonrpc.AppendSplice(nil, whole, jsonrpc.Edit{Span: at, New: c.token})
		}
	}
	return c.to.put(whole)
}

// Flush implements jsonrpc.Sender.
func (c *call) Flush() {}

// cancellation takes back a request of ours.
func cancellation(n uint64) []byte {
	params := strconv.AppendUint([]byte(`{"requestId":`), n, 10)
	params = append(params, `,"reason":"the client has closed the stream of the answer"}`...)
	return jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), params)
}
