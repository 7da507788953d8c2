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

// Send queues a frame of toolman's own for the client.
func (s *Conn) Send(out *peer.Outgoing, frame []byte, note tracing.Note) {
	s.Trace.Sent(tracing.Client, s.Name(), frame, note)
	if err := out.Send(s.to(note.During), frame); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.answerUnsent(out, frame, err)
	} // else it fails only when the client is gone
}

// answerUnsent answers a request whose answer of toolman's own could not be written.
func (s *Conn) answerUnsent(out *peer.Outgoing, frame []byte, err error) {
	s.Log.Error("a message could not be sent to the client", zap.String("session", s.Name()), zap.NamedError("err", err))
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil && m.Kind == jsonrpc.Response {
		id := bytes.Clone(m.Bytes(m.ID))
		out.Send(s.to(nil), jsonrpc.AppendError(nil, id, jsonrpc.CodeInternalError, "toolman's answer could not be sent: "+err.Error(), nil)) // fails only when the client is gone
	}
}

// to is where a frame goes that belongs to the request with this id, if to any.
func (s *Conn) to(during []byte) peer.Sender {
	if s.Front.Streams != nil && during != nil {
		if stream := s.Front.Streams.During(during); stream != nil {
			return stream
		}
	}
	if batches := s.Front.Batches.Load(); batches != nil {
		return batches
	}
	return s.Front.Out
}

// Pass writes an upstream's message to the client, with the edits of out.
func (s *Conn) Pass(out *peer.Outgoing, m *jsonrpc.Message, note *tracing.Note) error {
	if s.Trace.On() {
		note.Rewrote = tracing.Rewrote(out, m)
		s.Trace.Sent(tracing.Client, s.Name(), out.Preview(m.Frame), *note)
	}
	return out.Pass(s.to(note.During), m)
}

func (s *Conn) Announce(out *peer.Outgoing, method mcpwire.Method) {
	s.Send(out, jsonrpc.AppendNotification(nil, string(method), nil), tracing.Note{Method: method})
}

// TraceArrival traces a request of the client and returns its correlation number.
// One that has waited was traced when it came.
func (s *Conn) TraceArrival(req *Request, name jsonrpc.Span) uint64 {
	if req.TraceID == 0 {
		req.TraceID = s.Trace.Next()
		s.Trace.Request(tracing.Client, s.Name(), req.Message, req.TraceID, req.Method, name)
	}
	return req.TraceID
}
