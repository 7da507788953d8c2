//go:build !linux

package jsonrpc

import "os"

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
