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

// A SyntaxError says that a frame is not JSON, or that it nests too deep.
type SyntaxError struct {
	Offset int // in bytes, from the start of the frame
	What   string
	Deep   bool // it nests more than scan.MaxDepth levels deep
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

// DeepID returns the ID of a request that Scan refused because it nests too deep. It is nil for any
// other error, and if Scan stopped before it had read the ID and the method.
func DeepID(m *Message, err error) []byte {
	syntax, ok := errors.AsType[*SyntaxError](err)
	if !ok || !syntax.Deep || !m.Method.Present() || !m.HasID() {
		return nil
	}
	return m.Bytes(m.ID)
}

// A FormError says that a frame is JSON but not a JSON-RPC message, or that parsers may disagree on
// one of its members.
type FormError struct {
	What string
	In   string // the object concerned, such as "params.arguments", or "" for the message itself
}

func (e *FormError) Error() string {
	if e.In != "" {
		return "in " + e.In + ": " + e.What
	}
	return "not a JSON-RPC 2.0 message: " + e.What
}

// A TooLongError says that a frame exceeds the limit of its reader, which has kept its two ends
// only.
type TooLongError struct {
	Size, Limit int64  // in bytes
	Head, Tail  []byte // the first and the last bytes, for finding the id
}

const (
	headSize = 4 << 10 // the length of TooLongError.Head
	tailSize = 256     // and of TooLongError.Tail
)

// Add counts the next part of the frame and keeps what belongs to its ends.
func (e *TooLongError) Add(part []byte) {
	e.Size += int64(len(part))
	e.Head = append(e.Head, part[:min(len(part), headSize-len(e.Head))]...)
	e.Tail = append(e.Tail, part[max(0, len(part)-tailSize):]...)
	e.Tail = e.Tail[max(0, len(e.Tail)-tailSize):]
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message of %d bytes is over the limit of %d", e.Size, e.Limit)
}

// Errors of a Sender.
var (
	// ErrQueueFull says that the queue to the far end is full, because the far end does not read.
	ErrQueueFull = errors.New("the queue is full because the far end does not read")
	// ErrLineBreak says that a frame has a line break in it. The far end of a Peer, which ends a
	// message at a line break, would read more than one message.
	ErrLineBreak = errors.New("the message has a raw line break in it, so that it would be read as more than one message")
	// ErrClosed says that the far end is gone.
	ErrClosed = errors.New("the far end is gone")
)
