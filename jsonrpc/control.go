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
// jsonrpc2.Conn. The Conn sees only replies to requests that it made itself, so
// nothing an upstream writes can end it; and it sees them without their results,
// which it would decode twice: a list of a thousand tools takes it 50 ms.
type Control struct {
	conn   *jsonrpc2.Conn
	stream *controlStream
	ids    Numbering

	mu      sync.Mutex
	results map[uint64]json.RawMessage // guarded by mu: results on their way to their Call
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
		results: map[uint64]json.RawMessage{},
	}
}

// Call sends a request and waits for its result, which it returns as it came.
// An error answer is an *Error. When ctx ends first, a late answer is ignored.
func (c *Control) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, ok := c.ids.Next(method)
	if !ok {
		return nil, ErrClosed
	}
	err := c.conn.Call(ctx, method, params, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
	result := c.result(id)
	if err != nil && ctx.Err() != nil {
		c.abandon(id)
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, ErrClosed
	}
	return result, err
}

// abandon answers a call ourselves: a Conn would wait for it for ever.
func (c *Control) abandon(id uint64) {
	c.ids.Forget(id)
	token := strconv.AppendUint(nil, id, 10)
	c.deliver(AppendError(nil, token, CodeInternalError, "abandoned", nil))
}

// result takes what was put aside for a call.
func (c *Control) result(id uint64) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	result := c.results[id]
	delete(c.results, id)
	return result
}

// Notify sends a notification.
func (c *Control) Notify(ctx context.Context, method string, params any) error {
	return c.conn.Notify(ctx, method, params)
}

// Deliver takes the reply to the request with this id, which was made by Call. It
// copies what it keeps.
func (c *Control) Deliver(id uint64, m *Message) {
	if m.Err.Present() {
		object := m.Bytes(m.Err)
		if json.Unmarshal(object, &Error{}) != nil { // the Conn would end over it
			object = []byte(`{"code":-32603,"message":"the error answer has a wrong shape"}`)
		}
		c.deliver(AppendErrorResponse(nil, m.Bytes(m.ID), object))
		return
	}
	c.mu.Lock()
	c.results[id] = bytes.Clone(m.Bytes(m.Result))
	c.mu.Unlock()
	c.deliver(AppendResult(nil, m.Bytes(m.ID), []byte("true")))
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
