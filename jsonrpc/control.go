package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// Control runs toolman's own conversation with an upstream, over a
// jsonrpc2.Conn. The Conn sees only replies to requests that it made itself, and
// of those no more than that they came: what is in them could end it, and it
// decodes them twice, which takes 50 ms for a list of a thousand tools.
type Control struct {
	conn   *jsonrpc2.Conn
	stream *controlStream
	ids    Numbering

	mu      sync.Mutex
	waiting map[uint64]answer // guarded by mu: a place for the answer to each call under way
}

type answer struct {
	result json.RawMessage
	err    *Error
}

// Numbering hands out request ids and takes back those that will not be
// answered.
type Numbering interface {
	Next(method string) (id uint64, ok bool)
	Forget(id uint64)
}

// NewControl makes a Control that writes to out. ids must be shared with whoever
// else sends requests there.
func NewControl(out func(frame []byte) error, ids Numbering) *Control {
	s := &controlStream{out: out, in: make(chan []byte, 16), done: make(chan struct{})}
	silent := jsonrpc2.SetLogger(discard{})
	return &Control{
		conn: jsonrpc2.NewConn(context.Background(), s, nobody{}, silent), stream: s, ids: ids,
		waiting: map[uint64]answer{},
	}
}

// Call sends a request and waits for its result, which it returns as it came.
// Errors name the method; that of an error answer wraps an *Error. When ctx ends
// first, a late answer is ignored.
func (c *Control) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, ok := c.ids.Next(method)
	if !ok {
		return nil, fmt.Errorf("%s: %w", method, ErrClosed)
	}
	c.expect(id)
	err := c.conn.Call(ctx, method, params, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
	got := c.take(id)
	switch {
	case err == nil && got.err != nil:
		return nil, &callError{method, got.err}
	case err == nil:
		return got.result, nil
	}
	c.ids.Forget(id)
	c.complete(id) // a Conn would wait for it for ever
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	return nil, fmt.Errorf("%s: %w", method, closed(err))
}

// A callError is an error answer to a call.
type callError struct {
	method string
	answer *Error
}

// Error says which call got which answer.
func (e *callError) Error() string {
	return fmt.Sprintf("%s: %s (error %d)", e.method, e.answer.Message, e.answer.Code)
}

// Unwrap returns the *Error.
func (e *callError) Unwrap() error { return e.answer }

// closed gives the errors of a Conn that is closed our name.
func closed(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrClosed
	}
	return err
}

func (c *Control) expect(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[id] = answer{}
}

func (c *Control) take(id uint64) answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.waiting[id]
	delete(c.waiting, id)
	return got
}

// complete ends a call in the Conn.
func (c *Control) complete(id uint64) {
	token := strconv.AppendUint(nil, id, 10)
	c.deliver(AppendResult(nil, token, []byte("true")))
}

// Notify sends a notification.
func (c *Control) Notify(ctx context.Context, method string, params any) error {
	return closed(c.conn.Notify(ctx, method, params))
}

// Deliver takes the reply to the request with this id, which was made by Call. It
// copies what it keeps.
func (c *Control) Deliver(id uint64, m *Message) {
	var got answer
	if m.Err.Present() {
		got.err = parseError(m.Bytes(m.Err))
	} else {
		got.result = bytes.Clone(m.Bytes(m.Result))
	}
	c.mu.Lock()
	if _, ok := c.waiting[id]; ok {
		c.waiting[id] = got
	}
	c.mu.Unlock()
	c.complete(id)
}

func parseError(object []byte) *Error {
	e := new(Error)
	if json.Unmarshal(object, e) != nil {
		return &Error{Code: CodeInternalError, Message: "the error answer has a wrong shape"}
	}
	return e
}

func (c *Control) deliver(frame []byte) {
	select {
	case c.stream.in <- frame:
	case <-c.stream.done:
	}
}

// Close ends the conversation; calls that wait fail.
func (c *Control) Close() { c.conn.Close() }

type discard struct{}

func (discard) Printf(string, ...any) {}

// nobody handles requests: none reach a Control.
type nobody struct{}

func (nobody) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// controlStream is the jsonrpc2.ObjectStream between a Conn and a peer whose
// reading somebody else does.
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
