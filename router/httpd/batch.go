package httpd

import (
	"errors"
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/budget"
)

// maxBatch is how many messages a client may POST at once.
const maxBatch = 256

// batch handles an array of messages, which only sessions of revision 2025-03-26 have.
// One that is no message makes all of it a bad request: an answer to it would have no id
// to find its way by.
func (e *Endpoint) batch(w http.ResponseWriter, r *http.Request, who Caller, body []byte, in *budget.Reader) {
	if !versionKnown(w, r, nil) {
		return
	}
	s := e.session(w, r, who, nil)
	if s == nil {
		return
	}
	if s.agreed() != mcpwire.V2025_03_26 {
		e.leave(s)
		refuse(w, http.StatusBadRequest, nil, codeInvalidRequest, "only revision "+mcpwire.V2025_03_26+" has batches; send one message at a time")
		return
	}
	b := arriving{s: s, to: e.newStream(0, s.account), in: in}
	if err := b.read(body); err != nil {
		b.abandon()
		e.leave(s)
		if _, form := errors.AsType[*jsonrpc.FormError](err); form {
			unreadable(w, &jsonrpc.Message{}, err)
		} else {
			reject(w, nil, err)
		}
		return
	}
	if len(b.calls) == 0 {
		s.deliver(body)
		e.leave(s)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	b.to.answers = len(b.calls) // nobody else has seen it yet
	e.ask(w, r, s, func() { s.deliver(jsonrpc.AppendSplice(nil, body, b.edits...)) }, b.to, b.calls)
}

// arriving is a batch being read.
type arriving struct {
	s     *session
	to    *stream
	in    *budget.Reader // the body, whose bytes the first request is counted with
	calls []*call
	edits []jsonrpc.Edit
}

// read notes the requests of a batch.
func (b *arriving) read(body []byte) error {
	n := 0
	for at := range jsonrpc.Elements(body, jsonrpc.Span{Hi: len(body)}) {
		var m jsonrpc.Message
		if err := jsonrpc.Scan(body[at.Lo:at.Hi], &m); err != nil {
			return err
		}
		if n++; n > maxBatch {
			return &jsonrpc.FormError{What: "a batch has at most 256 messages"}
		}
		if err := b.add(&m, at.Lo); err != nil {
			return err
		}
	}
	if n == 0 {
		return &jsonrpc.FormError{What: "a batch has at least one message"}
	}
	return nil
}

// add notes a message of the batch that starts at this place of it.
func (b *arriving) add(m *jsonrpc.Message, lo int) error {
	switch method := mcpwire.MethodOf(m.Text(m.Method)); {
	case method == mcpwire.Initialize:
		return &jsonrpc.FormError{What: "initialize is not part of a batch"}
	case method == mcpwire.Cancelled:
		b.cancel(m, lo)
	case m.Kind == jsonrpc.Request:
		c, err := b.s.open(m, method, jsonrpc.Span{}, b.to, b.in)
		if err != nil {
			return err
		}
		b.calls = append(b.calls, c)
		b.edits = append(b.edits, jsonrpc.Edit{Span: jsonrpc.Span{Lo: lo + m.ID.Lo, Hi: lo + m.ID.Hi}, New: number(c.n)})
	}
	return nil
}

// cancel has a cancellation within the batch name the request as the router knows it.
func (b *arriving) cancel(m *jsonrpc.Message, lo int) {
	at, err := mcpwire.IDParam(m, "requestId")
	if err != nil || !at.Present() {
		return
	}
	b.edits = append(b.edits, jsonrpc.Edit{Span: jsonrpc.Span{Lo: lo + at.Lo, Hi: lo + at.Hi}, New: b.s.callOff(m.Bytes(at))})
}

// abandon forgets the requests of a batch that was not read to its end.
func (b *arriving) abandon() {
	for _, c := range b.calls {
		b.s.drop(c)
	}
}
