package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// Control runs toolman's own conversation with an upstream: it waits for the answers to the
// requests that it makes itself, and looks into none of them.
type Control struct {
	out func(frame []byte) error
	ids Numbering

	mu      sync.Mutex
	waiting map[uint64]chan answer // guarded by mu: who waits for the answer to what; nil once it is closed
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
	return &Control{out: out, ids: ids, waiting: map[uint64]chan answer{}}
}

// Call sends a request and waits for its result, which it returns as it came. Params are none
// if they are nil. Errors name the method; that of an error answer wraps an *Error. When ctx
// ends first, a late answer is ignored.
func (c *Control) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	got, err := c.ask(ctx, method, params)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", method, err)
	case got.err != nil:
		return nil, &callError{method, got.err}
	}
	return got.result, nil
}

func (c *Control) ask(ctx context.Context, method string, params any) (got answer, err error) {
	raw, err := marshal(params)
	if err != nil {
		return got, err
	}
	id, ok := c.ids.Next(method)
	if !ok {
		return got, ErrClosed
	}
	place, err := c.expect(id)
	if err == nil {
		err = c.out(AppendRequest(nil, id, method, raw))
	}
	if err == nil {
		select {
		case got, ok = <-place:
			if ok {
				return got, nil
			}
			err = ErrClosed
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	c.take(id)
	c.ids.Forget(id)
	return got, err
}

// marshal returns params as JSON, nil if there are none.
func marshal(params any) ([]byte, error) {
	switch p := params.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return p, nil
	}
	return json.Marshal(params)
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

// expect makes a place for the answer to a request.
func (c *Control) expect(id uint64) (chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		return nil, ErrClosed
	}
	place := make(chan answer, 1)
	c.waiting[id] = place
	return place, nil
}

// take takes a place away, nil if there is none.
func (c *Control) take(id uint64) chan answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	place := c.waiting[id]
	delete(c.waiting, id)
	return place
}

// Notify sends a notification, without params if they are nil.
func (c *Control) Notify(method string, params any) error {
	raw, err := marshal(params)
	if err == nil && c.closed() {
		err = ErrClosed
	}
	if err == nil {
		err = c.out(AppendNotification(nil, method, raw))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

func (c *Control) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting == nil
}

// Deliver takes the reply to the request with this id, which was made by Call. It
// copies what it keeps.
func (c *Control) Deliver(id uint64, m *Message) {
	place := c.take(id)
	if place == nil {
		return // nobody waits any more
	}
	if m.Err.Present() {
		place <- answer{err: parseError(m.Bytes(m.Err))}
	} else {
		place <- answer{result: bytes.Clone(m.Bytes(m.Result))}
	}
}

func parseError(object []byte) *Error {
	e := new(Error)
	if json.Unmarshal(object, e) != nil {
		return &Error{Code: CodeInternalError, Message: "the error answer has a wrong shape"}
	}
	return e
}

// Close ends the conversation; calls that wait fail.
func (c *Control) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, place := range c.waiting {
		close(place)
	}
	c.waiting = nil
}
