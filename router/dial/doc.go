// Package dial connects to upstream servers: it starts a process and uses its pipes, or connects
// to a Unix socket or an HTTP endpoint where a server already listens.
package dial

import (
	"context"
	"errors"

	"toolman/jsonrpc/peer"
)

// A Conn is the connection to one upstream server.
type Conn interface {
	// Out takes what is sent to the server. It always returns the same Sender.
	Out() peer.Sender
	// Start begins reading. It passes each message to h, one at a time. The caller closes ended
	// when h needs no more messages.
	Start(h peer.Handler, ended <-chan struct{})
	// Stop ends the connection, gracefully if that takes only a moment, and returns when
	// nothing of it is left.
	Stop()
	// Cause returns, within a moment, why the connection ended. err is the error that
	// h.Closed received. failed is false for a process that ended with exit status 0.
	Cause(err error) (why string, failed bool)
	// LastWords returns what the server recently reported outside the protocol, or "".
	LastWords() string
	// String names the other end, without secrets.
	String() string
}

// A Login is what a person does so that a server takes requests. Connections to one server share it.
type Login interface {
	// Wanted returns what a person does, such as "run toolman login linear", or "" if nothing is
	// known to help.
	Wanted() string
	// Wait returns when that has been done, or when ctx ends.
	Wait(ctx context.Context)
	// Look looks at once whether it has been done.
	Look()
}

// ErrEnding reports that toolman is ending and opens no further connection.
var ErrEnding = errors.New("toolman is ending")
