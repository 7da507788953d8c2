//go:build !linux && !darwin

package debugsock

import "toolman/router/breakpoint"

// A Server accepts connections to a Debugger. There is none on this system.
type Server struct{ Path string }

// Listen fails.
func Listen(string, string, *breakpoint.Debugger) (*Server, error) { return nil, ErrUnsupported }

// Close does nothing.
func (s *Server) Close() {}

// Check fails.
func Check(string) error { return ErrUnsupported }

// Dial fails.
func Dial(string) (*Conn, error) { return nil, ErrUnsupported }
