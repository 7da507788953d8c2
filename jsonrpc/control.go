package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// Control makes toolman's own requests to an upstream, with a jsonrpc2.Conn. The Conn sees only
// responses to its own requests, with true in place of the result: other content could make it
// close, and it decodes results twice, which takes 50 ms for a list of a thousand tools.
type Control struct {
	conn   *jsonrpc2.Conn
	stream *controlStream
	ids    Numbering

	mu      sync.Mutex
	pending map[uint64]*answer // guarded by mu: for each pending call
}

type answer struct {
	result json.RawMessage
	err    *Error
}

// Numbering assigns request ids and takes back those of requests that get no response.
type Numbering interface {
	Next(method string) (id uint64, ok bool)
	Forget(id uint64)
}

// NewControl returns a Control that writes to out. All requests that are sent there must use the
// same ids.
func NewControl(out func(frame []byte) error, ids Numbering) *Control {
	s := &controlStream{out: out, in: make(chan []byte, 16), done: make(chan struct{})}
	silent := jsonrpc2.SetLogger(log.New(io.Discard, "", 0))
	return &Control{
		conn: jsonrpc2.NewConn(context.Background(), s, noRequests{}, silent), stream: s, ids: ids,
		pending: map[uint64]*answer{},
	}
}

// Call sends a request, waits for its result and returns it unchanged. Errors name the method. The
// error for an error response wraps an *Error. A response after the end of ctx is ignored.
func (c *Control) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, ok := c.ids.Next(method)
	if !ok {
		return nil, fmt.Errorf("%s: %w", method, ErrClosed)
	}
	got := new(answer)
	c.mu.Lock()
	c.pending[id] = got
	c.mu.Unlock()
	err := c.conn.Call(ctx, method, params, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
	switch {
	case err == nil && got.err != nil:
		return nil, &callError{method, got.err}
	case err == nil:
		return got.result, nil
	}
	c.ids.Forget(id)
	c.complete(id) // the Conn still waits for a response
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	return nil, fmt.Errorf("%s: %w", method, closed(err))
}

// A callError is an error response.
type callError struct {
	method string
	answer *Error
}

// Error names the method and the error.
func (e *callError) Error() string {
	return fmt.Sprintf("%s: %s (error %d)", e.method, e.answer.Message, e.answer.Code)
}

// Unwrap returns the *Error.
func (e *callError) Unwrap() error { return e.answer }

// closed returns ErrClosed for the errors of a closed Conn.
func closed(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrClosed
	}
	return err
}

// complete ends a call in the Conn.
func (c *Control) complete(id uint64) {
	token := strconv.AppendUint(nil, id, 10)
	select {
	case c.stream.in <- AppendResult(nil, token, []byte("true")):
	case <-c.stream.done:
	}
}

// Notify sends a notification.
func (c *Control) Notify(ctx context.Context, method string, params any) error {
	return closed(c.conn.Notify(ctx, method, params))
}

// Deliver takes the response to a request of Call. It copies what it keeps.
func (c *Control) Deliver(id uint64, m *Message) {
	var got answer
	if m.Err.Present() {
		got.err = parseError(m.Bytes(m.Err))
	} else {
		got.result = bytes.Clone(m.Bytes(m.Result))
	}
	c.mu.Lock()
	if call := c.pending[id]; call != nil {
		*call = got
	}
	c.mu.Unlock()
	c.complete(id)
}

func parseError(object []byte) *Error {
	e := new(Error)
	if json.Unmarshal(object, e) != nil {
		return &Error{Code: CodeInternalError, Message: "the error response is malformed"}
	}
	return e
}

// Close makes all pending and future calls fail.
func (c *Control) Close() { c.conn.Close() }

// noRequests is the handler of a Conn that gets no requests.
type noRequests struct{}

func (noRequests) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// controlStream is the jsonrpc2.ObjectStream of a Control.
type controlStream struct {
	out  func(frame []byte) error
	in   chan []byte
	once sync.Once
	done chan struct{}
}

func (s *controlStream) ReadObject(v any) error {
	select {
	case frame := <-s.in:
		return json.Unmarshal(frame, v)
	case <-s.done:
		return io.EOF
	}
}

func (s *controlStream) WriteObject(v any) error {
	frame, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.out(frame)
}

func (s *controlStream) Close() error {
	s.once.Do(func() { close(s.done) })
	return nil
}
