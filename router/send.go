package router

import (
	"bytes"
	"errors"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/tracing"
)

// send queues a frame of toolman's own for the client.
func (s *conn) send(out *peer.Outgoing, frame []byte, note tracing.Note) {
	s.trace.Sent(tracing.Client, s.name(), frame, note)
	if err := out.Send(s.to(note.During), frame); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.answerUnsent(out, frame, err)
	} // else it fails only when the client is gone
}

// answerUnsent answers a request whose answer of toolman's own could not be written.
func (s *conn) answerUnsent(out *peer.Outgoing, frame []byte, err error) {
	s.log.Error("a message could not be sent to the client", zap.String("session", s.name()), zap.NamedError("err", err))
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil && m.Kind == jsonrpc.Response {
		id := bytes.Clone(m.Bytes(m.ID))
		out.Send(s.to(nil), jsonrpc.AppendError(nil, id, jsonrpc.CodeInternalError, "toolman's answer could not be sent: "+err.Error(), nil)) // fails only when the client is gone
	}
}

// to is where a frame goes that belongs to the request with this id, if to any.
func (s *conn) to(during []byte) peer.Sender {
	if s.front.streams != nil && during != nil {
		if stream := s.front.streams.During(during); stream != nil {
			return stream
		}
	}
	if batches := s.front.batches.Load(); batches != nil {
		return batches
	}
	return s.front.out
}

// pass writes an upstream's message to the client, with the edits of out.
func (s *conn) pass(out *peer.Outgoing, m *jsonrpc.Message, note *tracing.Note) error {
	if s.trace.On() {
		note.Rewrote = tracing.Rewrote(out, m)
		s.trace.Sent(tracing.Client, s.name(), out.Preview(m.Frame), *note)
	}
	return out.Pass(s.to(note.During), m)
}

func (s *conn) notify(out *peer.Outgoing, method mcpwire.Method) {
	s.send(out, jsonrpc.AppendNotification(nil, string(method), nil), tracing.Note{Method: method})
}

// traceArrivalLocked traces a request of the client and returns its correlation number.
// One that has waited was traced when it came.
func (s *conn) traceArrivalLocked(req *request, name jsonrpc.Span) uint64 {
	if req.traceID == 0 {
		req.traceID = s.trace.Next()
		s.trace.Request(tracing.Client, s.name(), req.Message, req.traceID, req.method, name)
	}
	return req.traceID
}
