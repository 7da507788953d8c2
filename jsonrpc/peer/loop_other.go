//go:build !linux

package peer

import (
	"net"
	"os"
)

// A Loop makes peers. On this system, each peer has its own goroutines.
type Loop struct{}

// NewLoop returns a loop.
func NewLoop() (*Loop, error) { return &Loop{}, nil }

// Close does nothing here.
func (l *Loop) Close() {}

// Peer makes a peer that reads from in and writes to out, and owns both.
func (l *Loop) Peer(in, out *os.File, o Options) (*Peer, error) {
	return NewStream(in, out, o), nil
}

// Connection makes a peer of a connection, and owns it. Peer.CloseWrite leaves the direction of the
// far end open.
func (l *Loop) Connection(conn *net.UnixConn, o Options) (*Peer, error) {
	return NewStream(conn, half{conn}, o), nil
}

// half is a connection of which Close closes only the direction that is written to.
type half struct{ *net.UnixConn }

// Close closes that direction.
func (h half) Close() error { return h.CloseWrite() }
