//go:build !linux

package jsonrpc

import (
	"net"
	"os"
)

// A Loop makes peers. On this system every peer has goroutines of its own.
type Loop struct{}

// NewLoop returns a loop.
func NewLoop() (*Loop, error) { return &Loop{}, nil }

// Close does nothing here.
func (l *Loop) Close() {}

// Peer makes a peer that reads from in and writes to out, and owns both.
func (l *Loop) Peer(in, out *os.File, o PeerOptions) (*Peer, error) {
	return NewStreamPeer(in, out, o), nil
}

// Connection makes a peer of a connection, and owns it. CloseWrite leaves the far end's
// direction open.
func (l *Loop) Connection(conn *net.UnixConn, o PeerOptions) (*Peer, error) {
	return NewStreamPeer(conn, half{conn}, o), nil
}

// half is the direction of a connection that is written to.
type half struct{ *net.UnixConn }

// Close ends that direction alone.
func (h half) Close() error { return h.CloseWrite() }
