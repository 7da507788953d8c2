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

// A Login lets requests of a person to a server. Connections to one server share it.
type Login interface {
	// Wanted returns the command with which a person logs in, such as "toolman login linear", if a
	// connection has ended with this problem because there is no login. Otherwise it returns "".
	Wanted(problem string) (command string)
	// Wait returns true when somebody has logged in, and false when ctx ends or stopped is closed.
	Wait(ctx context.Context, stopped <-chan struct{}) bool
}

// ErrEnding reports that toolman is ending and opens no further connection.
var ErrEnding = errors.New("toolman is ending")
