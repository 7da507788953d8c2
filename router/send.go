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
func (s *Session) send(b *peer.Batch, frame []byte, note tracing.Note) {
	s.r.trace.Sent(tracing.Client, s.name(), frame, note)
	if err := b.Send(s.to(note.During), frame); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.answerUnsent(b, frame, err)
	} // else it fails only when the client is gone
}

// answerUnsent answers a request whose answer of toolman's own could not be written.
func (s *Session) answerUnsent(b *peer.Batch, frame []byte, err error) {
	s.log.Error("a message could not be sent to the client", zap.String("session", s.name()), zap.NamedError("err", err))
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil && m.Kind == jsonrpc.Response {
		id := bytes.Clone(m.Bytes(m.ID))
		b.Send(s.to(nil), jsonrpc.AppendError(nil, id, jsonrpc.CodeInternalError, "toolman's answer could not be sent: "+err.Error(), nil)) // fails only when the client is gone
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

// send writes a message to the upstream, with the batch's edits.
func (u *Upstream) send(b *peer.Batch, m *jsonrpc.Message, note *tracing.Note) error {
	if u.r.trace.On() {
		note.Rewrote = rewrote(b, m)
		u.r.trace.Sent(tracing.Upstream, u.Name, b.Preview(m.Frame), *note)
	}
	return b.Pass(u.pipe.out, m)
}

// pass writes an upstream's message to the client, with the batch's edits.
func (s *Session) pass(b *peer.Batch, m *jsonrpc.Message, note *tracing.Note) error {
	if s.r.trace.On() {
		note.Rewrote = rewrote(b, m)
		s.r.trace.Sent(tracing.Client, s.name(), b.Preview(m.Frame), *note)
	}
	return b.Pass(s.to(note.During), m)
}

// rewrote names the places that the batch's edits change.
func rewrote(b *peer.Batch, m *jsonrpc.Message) []string {
	var paths []string
	for _, e := range b.Edits() {
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
