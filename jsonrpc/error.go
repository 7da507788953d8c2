package jsonrpc

import (
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"

	"toolman/jsonrpc/internal/scan"
)

// Error is a JSON-RPC error object.
type Error = jsonrpc2.Error

// Error codes of JSON-RPC 2.0, section 5.1.
const (
	CodeParseError     = jsonrpc2.CodeParseError
	CodeInvalidRequest = jsonrpc2.CodeInvalidRequest
	CodeMethodNotFound = jsonrpc2.CodeMethodNotFound
	CodeInvalidParams  = jsonrpc2.CodeInvalidParams
	CodeInternalError  = jsonrpc2.CodeInternalError
)

// A SyntaxError says that a frame is not JSON, or that it nests too deep to tell.
type SyntaxError struct {
	Offset int // in bytes, from the start of the frame
	What   string
	Deep   bool // it nests more than 10,000 levels deep
}

func (e *SyntaxError) Error() string {
	if e.Deep {
		return fmt.Sprintf("nested too deep at byte %d: a message may have %d levels", e.Offset+1, scan.MaxDepth)
	}
	return fmt.Sprintf("not valid JSON at byte %d: %s", e.Offset+1, e.What)
}

func syntaxError(s *scan.Scanner) error {
	return &SyntaxError{Offset: s.At, What: s.Reason, Deep: s.Reason == scan.TooDeep}
}

// DeepID returns the ID of a request that could not be scanned because it nests too deep, if ID and
// method were read before that; nil: they were not.
func DeepID(m *Message, err error) []byte {
	syntax, ok := errors.AsType[*SyntaxError](err)
	if !ok || !syntax.Deep || !m.Method.Present() || !m.HasID() {
		return nil
	}
	return m.Bytes(m.ID)
}

// A FormError says that a frame is JSON but no JSON-RPC message, or that one of
// its members cannot be read in one way only.
type FormError struct {
	What string
	In   string // the object that it is about, such as "params.arguments"; "": the message itself
}

func (e *FormError) Error() string {
	if e.In != "" {
		return "in " + e.In + ": " + e.What
	}
	return "not a JSON-RPC 2.0 message: " + e.What
}

// A TooLongError says that a frame was longer than its reader takes. The frame
// itself was not kept, only its two ends.
type TooLongError struct {
	Size, Limit int64  // in bytes
	Head, Tail  []byte // the first and the last bytes, for finding the id
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message of %d bytes is over the limit of %d", e.Size, e.Limit)
}

// Errors of a Sender.
var (
	// ErrQueueFull says that the far end does not read: as much as may wait for
	// it is waiting.
	ErrQueueFull = errors.New("the queue is full, the far end does not read")
	// ErrLineBreak says that a frame has a raw line break in it. A Peer frames messages by lines, so
	// that the far end would read more than one message.
	ErrLineBreak = errors.New("the message has a raw line break in it, and would be read as more than one")
	// ErrClosed says that the far end is gone.
	ErrClosed = errors.New("the far end is gone")
)
