package stdio

import (
	"context"
	"os"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
)

const (
	firstRequest = 3 * time.Second  // how long a client has until its first request
	quiet        = time.Second      // how long it has from then on until the next one
	longest      = 10 * time.Second // how long Refuse takes at most
)

// Refuse answers the requests of the client on standard input with an error, so that the client
// shows why toolman does not serve it. It returns when the client has closed the connection or
// sends no more requests. On a terminal, where nobody speaks MCP, it returns at once.
func Refuse(ctx context.Context, why string, stdin, stdout *os.File) error {
	if cli.IsTerminal(stdin) {
		return nil
	}
	loop, err := peer.NewLoop()
	if err != nil {
		return err
	}
	defer loop.Close()
	client, end, err := open(loop, stdin, stdout)
	if err != nil {
		return err
	}
	defer end()
	r := &refuser{why: mcpwire.Refusal{Code: jsonrpc.CodeInternalError, Message: why}, to: client, answered: make(chan struct{}, 1), closed: make(chan struct{})}
	client.Start(r)
	r.wait(ctx)
	return nil
}

// A refuser handles the messages of a client that is not served.
type refuser struct {
	why      mcpwire.Refusal
	to       peer.Sender
	answered chan struct{} // gets a value after an answer
	closed   chan struct{}
}

// wait waits for the end of the requests.
func (r *refuser) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	patience := time.NewTimer(firstRequest)
	defer patience.Stop()
	for {
		select {
		case <-r.answered:
			patience.Reset(quiet)
		case <-r.closed:
			return
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Message implements peer.Handler.
func (r *refuser) Message(m *jsonrpc.Message, out *peer.Outgoing) {
	if m.Kind == jsonrpc.Request {
		r.answer(m.Bytes(m.ID), out)
	}
}

// Bad implements peer.Handler.
func (r *refuser) Bad(m *jsonrpc.Message, _ error, out *peer.Outgoing) {
	if m.HasID() {
		r.answer(m.Bytes(m.ID), out)
	}
}

func (r *refuser) answer(id []byte, out *peer.Outgoing) {
	if out.Send(r.to, r.why.Append(nil, id)) != nil {
		return // the client reads no more, and has been told already
	}
	select {
	case r.answered <- struct{}{}:
	default:
	}
}

// Closed implements peer.Handler.
func (r *refuser) Closed(error) { close(r.closed) }
