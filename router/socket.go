package router

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"toolman/jsonrpc"
)

// A socket is the connection to a server that listens on a Unix socket.
type socket struct {
	path  string
	peer  *jsonrpc.Peer
	ended <-chan struct{}
}

// awaitSocket is how long a server may need to listen: people start it together with
// toolman. Who comes later is found by another attempt.
const awaitSocket = time.Second

// closeSocket is how long the server at a socket has to close its side.
const closeSocket = 80 * time.Millisecond

// dialSocket makes a connection to the server at a socket.
// ended is as in Conn.Start.
func dialSocket(ctx context.Context, path string, loop *jsonrpc.Loop, frameLimit int, ended <-chan struct{}) (*socket, error) {
	conn, err := reachSocket(ctx, path)
	if err != nil {
		return nil, err
	}
	peer, err := loop.Connection(conn, jsonrpc.PeerOptions{FrameLimit: frameLimit})
	if err != nil {
		return nil, err
	}
	return &socket{path, peer, ended}, nil
}

// reachSocket tries for a moment to connect.
func reachSocket(ctx context.Context, path string) (*net.UnixConn, error) {
	end := time.Now().Add(awaitSocket)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: path})
		if err == nil {
			return conn, nil
		}
		if time.Now().Add(pause).After(end) {
			return nil, unreachable(path, err)
		}
		select {
		case <-ctx.Done():
			return nil, errEnding
		case <-time.After(pause):
		}
	}
}

// unreachable says why there is no connection, and what to do.
func unreachable(path string, err error) error {
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(statErr, os.ErrNotExist):
		return fmt.Errorf("there is no socket %s; start the server that makes it, or correct the path", path)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("the socket %s: permission denied; let toolman's user write to it", path)
	case statErr == nil && info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s is no socket; correct the path", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nobody listens on the socket %s; start its server", path)
	}
	if why, ok := errors.AsType[syscall.Errno](err); ok {
		err = why
	}
	return fmt.Errorf("connecting to the socket %s: %w", path, err)
}

// Out implements Conn.
func (s *socket) Out() jsonrpc.Sender { return s.peer }

// Start implements Conn.
func (s *socket) Start(h jsonrpc.Handler, _ <-chan struct{}) { s.peer.Start(h) }

// Stop implements Conn. The server is not ours to end: it is told that nothing more
// comes, and has a moment to close its side, lest it writes to nobody.
func (s *socket) Stop() {
	if !s.peer.Deaf() {
		s.peer.CloseWrite()
		select {
		case <-s.ended:
		case <-time.After(closeSocket):
		}
	}
	s.peer.Close()
}

// Cause implements Conn.
func (s *socket) Cause(err error) string {
	if errors.Is(err, io.EOF) {
		return "it closed the connection to its socket " + s.path
	}
	return fmt.Sprintf("the connection to its socket %s ended: %s", s.path, err)
}

// LastWords implements Conn: what the server says beside the protocol, it says elsewhere.
func (s *socket) LastWords() string { return "" }

// String implements Conn.
func (s *socket) String() string { return "socket " + s.path }
