package stdio

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire/streamhttp"
	"toolman/router/dial"
)

// Join connects the client on standard input and output to a server over HTTP, until one of the
// two closes the connection. It passes messages on unchanged.
func Join(ctx context.Context, conn *streamhttp.Conn, stdin, stdout *os.File, log *zap.Logger) error {
	loop, err := peer.NewLoop()
	if err != nil {
		return err
	}
	defer loop.Close()
	peer, end, err := open(loop, stdin, stdout)
	if err != nil {
		return err
	}
	defer end()
	log.Info("connecting", zap.Stringer("url", conn))
	client := &pipe{to: conn, replyTo: peer, log: log, closed: make(chan error, 1)}
	server := &pipe{to: peer, log: log, closed: make(chan error, 1)}
	conn.Start(server)
	peer.Start(client)
	select {
	case <-ctx.Done():
		log.Info("ending: " + context.Cause(ctx).Error())
	case <-client.closed:
		log.Info("ending: the client has closed the connection")
		drain(ctx, peer, conn.Answering)
	case err := <-server.closed:
		return cli.Failed(fmt.Errorf("%s: %w", conn, err), "see whether the server runs, and start again")
	}
	dial.CloseHTTP(conn)
	return nil
}

// A pipe handles the messages of one side: it passes them on to the other.
type pipe struct {
	to      peer.Sender
	replyTo peer.Sender // the side itself, if it gets an answer to a bad message; else nil
	log     *zap.Logger
	closed  chan error
}

// Message implements peer.Handler.
func (p *pipe) Message(m *jsonrpc.Message, out *peer.Outgoing) {
	frame := m.Frame
	if m.BothResultAndError { // strict readers reject it as it is
		if frame = jsonrpc.AppendResult(nil, m.Bytes(m.ID), m.Bytes(m.Result)); m.Err.Present() {
			frame = jsonrpc.AppendErrorResponse(nil, m.Bytes(m.ID), m.Bytes(m.Err))
		}
	}
	if err := out.Send(p.to, frame); err != nil {
		p.reject(m, jsonrpc.CodeInternalError, fmt.Errorf("not passed on: %w", err), out)
	}
}

// Bad implements peer.Handler.
func (p *pipe) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	code := int64(jsonrpc.CodeInvalidRequest)
	if _, syntax := errors.AsType[*jsonrpc.SyntaxError](err); syntax {
		code = jsonrpc.CodeParseError
	}
	p.reject(m, code, err, out)
}

// reject reports that a message is not passed on.
func (p *pipe) reject(m *jsonrpc.Message, code int64, err error, out *peer.Outgoing) {
	var id []byte
	if m.ID.Present() {
		id = m.Bytes(m.ID)
	} else if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
		id, _ = long.Peek()
	}
	p.log.Warn("a message is not passed on", zap.NamedError("err", err))
	if p.replyTo != nil && m.Kind != jsonrpc.Notification && m.Kind != jsonrpc.Response {
		out.Send(p.replyTo, jsonrpc.AppendError(nil, id, code, err.Error(), nil))
	}
}

// Closed implements peer.Handler.
func (p *pipe) Closed(err error) { p.closed <- err }
