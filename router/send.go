package router

import (
	"bytes"
	"errors"
	"slices"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/tracing"
)

// send queues a frame of toolman's own for the client.
func (s *Session) send(out *peer.Outgoing, frame []byte, note tracing.Note) {
	s.r.trace.Sent(tracing.Client, s.name(), frame, note)
	if err := out.Send(s.to(note.During), frame); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.answerUnsent(out, frame, err)
	} // else it fails only when the client is gone
}

// answerUnsent answers a request whose answer of toolman's own could not be written.
func (s *Session) answerUnsent(out *peer.Outgoing, frame []byte, err error) {
	s.log.Error("a message could not be sent to the client", zap.String("session", s.name()), zap.NamedError("err", err))
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil && m.Kind == jsonrpc.Response {
		id := bytes.Clone(m.Bytes(m.ID))
		out.Send(s.to(nil), jsonrpc.AppendError(nil, id, jsonrpc.CodeInternalError, "toolman's answer could not be sent: "+err.Error(), nil)) // fails only when the client is gone
	}
}

// to is where a frame goes that belongs to the request with this id, if to any.
func (s *Session) to(during []byte) peer.Sender {
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

// send writes a message to the upstream, with the edits of out.
func (u *Upstream) send(out *peer.Outgoing, m *jsonrpc.Message, note *tracing.Note) error {
	if u.r.trace.On() {
		note.Rewrote = rewrote(out, m)
		u.r.trace.Sent(tracing.Upstream, u.Name, out.Preview(m.Frame), *note)
	}
	return out.Pass(u.pipe.out, m)
}

// pass writes an upstream's message to the client, with the edits of out.
func (s *Session) pass(out *peer.Outgoing, m *jsonrpc.Message, note *tracing.Note) error {
	if s.r.trace.On() {
		note.Rewrote = rewrote(out, m)
		s.r.trace.Sent(tracing.Client, s.name(), out.Preview(m.Frame), *note)
	}
	return out.Pass(s.to(note.During), m)
}

// rewrote names the places that the edits of out change.
func rewrote(out *peer.Outgoing, m *jsonrpc.Message) []string {
	var paths []string
	for _, e := range out.Edits() {
		path := "id"
		if e.Span != m.ID {
			path = m.Path(e.Span)
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
