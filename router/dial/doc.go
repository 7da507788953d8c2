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

// A Login is how a user is logged in to a server. Connections to one server share it.
type Login interface {
	// Wanted returns the command with which a person logs in, such as "toolman login linear", if a
	// connection has ended with this problem because there is no login. Otherwise it returns "".
	// what says what the server needs, such as "needs a login".
	Wanted(problem string) (command, what string)
	// Wait returns true when somebody has logged in, and false when ctx ends or stopped is closed.
	Wait(ctx context.Context, stopped <-chan struct{}) bool
	// Begin starts an attempt to log in, which ends with ctx at the latest.
	Begin(ctx context.Context) Attempt
}

// An Attempt is the login of a person to a server. It is under way or has ended.
type Attempt interface {
	// Ask waits until the person can log in, and returns the URL to open and what to tell them. The
	// URL is "" if the attempt, or ctx, has ended before.
	Ask(ctx context.Context) (url, message string)
	// Done returns a channel that is closed when the attempt has ended.
	Done() <-chan struct{}
	// Outcome returns how the attempt has ended.
	Outcome() (success string, err error)
	// Stop ends the attempt.
	Stop()
}

// ErrEnding reports that toolman is ending and opens no further connection.
var ErrEnding = errors.New("toolman is ending")
