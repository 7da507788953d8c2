package dial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire/system"
)

// A socket is the connection to a server that listens on a Unix socket.
type socket struct {
	path  string
	peer  *peer.Peer
	ended <-chan struct{}
}

// awaitSocket is how long a server may take to listen: users start it together with toolman. A
// later attempt finds a server that takes longer.
const awaitSocket = time.Second

// closeSocket is how long the server at a socket has to close its side.
const closeSocket = 80 * time.Millisecond

// Socket connects to the server that listens on a Unix socket. ended is as in Conn.Start.
func Socket(ctx context.Context, path string, loop *peer.Loop, frameLimit int, ended <-chan struct{}) (Conn, error) {
	conn, err := reachSocket(ctx, path)
	if err != nil {
		return nil, err
	}
	peer, err := loop.Connection(conn, peer.Options{FrameLimit: frameLimit})
	if err != nil {
		return nil, err
	}
	return &socket{path, peer, ended}, nil
}

// reachSocket tries to connect until awaitSocket has passed.
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
			return nil, ErrEnding
		case <-time.After(pause):
		}
	}
}

// unreachable returns an error that says why there is no connection and what to do.
func unreachable(path string, err error) error {
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(statErr, os.ErrNotExist):
		return fmt.Errorf("there is no socket %s; start the server that makes it, or correct the path", path)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("the socket %s: permission denied; let toolman's user write to it", path)
	case statErr == nil && info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s is no socket; correct the path", path)
	case system.Refused(err):
		return fmt.Errorf("no server listens on the socket %s; start it", path)
	}
	if why, ok := errors.AsType[syscall.Errno](err); ok {
		err = why
	}
	return fmt.Errorf("connecting to the socket %s: %w", path, err)
}

// Out implements Conn.
func (s *socket) Out() peer.Sender { return s.peer }

// Start implements Conn.
func (s *socket) Start(h peer.Handler, _ <-chan struct{}) { s.peer.Start(h) }

// Stop implements Conn. It does not end the server: it closes its own side and gives the server
// a moment to close the other, so that the server does not write to a closed socket.
func (s *socket) Stop() {
	if !s.peer.Gone() {
		s.peer.CloseWrite()
		select {
		case <-s.ended:
		case <-time.After(closeSocket):
		}
	}
	s.peer.Close()
}

// Cause implements Conn.
func (s *socket) Cause(err error) (why string, failed bool) {
	if errors.Is(err, io.EOF) {
		return "it closed the connection to its socket " + s.path, true
	}
	return fmt.Sprintf("the connection to its socket %s ended: %s", s.path, err), true
}

// LastWords implements Conn. The server's other output goes elsewhere.
func (s *socket) LastWords() string { return "" }

// String implements Conn.
func (s *socket) String() string { return "socket " + s.path }
