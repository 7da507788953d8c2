package dialog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
)

// queued is how many messages are read ahead.
const queued = 256

// An Event is a message of the far end, a line that is not one, or the end.
type Event struct {
	Kind                  jsonrpc.Kind // Invalid: see Stray and End
	ID                    string       // JSON; "": none
	Method                string
	Params, Result, Error json.RawMessage
	Stray                 string // a line that is not a message, or its start
	End                   error  // why nothing more comes; io.EOF: the far end has closed its side
}

// A Conn is a connection to a far end. Send and Close may be called from any goroutine.
type Conn struct {
	peer   *peer.Peer
	events chan Event
	once   sync.Once
	closed chan struct{}
}

// New returns a connection that owns both streams, and reads.
func New(in io.ReadCloser, out io.WriteCloser) *Conn {
	c := &Conn{peer: peer.NewStream(in, out, peer.Options{}), events: make(chan Event, queued), closed: make(chan struct{})}
	c.peer.Start((*handler)(c))
	return c
}

// Events returns what the far end sends. The last event has an End.
func (c *Conn) Events() <-chan Event { return c.events }

// Send sends a message. It does not wait until the far end reads it.
func (c *Conn) Send(frame []byte) error {
	jsonrpc.OneLine(frame)
	if err := c.peer.Queue(frame, nil); err != nil {
		return err
	}
	c.peer.Flush()
	return nil
}

// Request sends a request with an ID, which is JSON. nil params are left out.
func (c *Conn) Request(id, method string, params json.RawMessage) error {
	frame := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s`, id, jsonrpc.AppendQuoted(nil, method))
	if params != nil {
		frame = fmt.Appendf(frame, `,"params":%s`, params)
	}
	return c.Send(append(frame, '}'))
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params json.RawMessage) error {
	return c.Send(jsonrpc.AppendNotification(nil, method, params))
}

// Respond sends a response with a result, or with an error object if that is not nil.
func (c *Conn) Respond(id string, result, failure json.RawMessage) error {
	if failure != nil {
		return c.Send(jsonrpc.AppendErrorResponse(nil, []byte(id), failure))
	}
	return c.Send(jsonrpc.AppendResult(nil, []byte(id), result))
}

// CloseWrite closes the direction to the far end once all is sent.
func (c *Conn) CloseWrite() { c.peer.CloseWrite() }

// Close closes both directions. Events may be lost.
func (c *Conn) Close() {
	c.once.Do(func() { close(c.closed) })
	c.peer.Close()
}

// A handler gives the messages of the peer to the Conn. It may wait for a reader of the events:
// only this peer reads on its goroutine.
type handler Conn

func (h *handler) event(e Event) {
	select {
	case h.events <- e:
	case <-h.closed:
	}
}

// Message implements peer.Handler.
func (h *handler) Message(m *jsonrpc.Message, _ *peer.Outgoing) {
	part := func(at jsonrpc.Span) json.RawMessage {
		if !at.Present() {
			return nil
		}
		return bytes.Clone(m.Bytes(at))
	}
	h.event(Event{Kind: m.Kind, ID: string(part(m.ID)), Method: string(m.Text(m.Method)),
		Params: part(m.Params), Result: part(m.Result), Error: part(m.Err)})
}

// Bad implements peer.Handler.
func (h *handler) Bad(m *jsonrpc.Message, err error, _ *peer.Outgoing) {
	const most = 200
	line := m.Frame
	if line == nil {
		line = []byte(err.Error())
	}
	h.event(Event{Stray: string(line[:min(len(line), most)])})
}

// Closed implements peer.Handler.
func (h *handler) Closed(err error) { h.event(Event{End: err}) }
