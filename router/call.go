package router

import (
	"bytes"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// A call is a request that was written to an upstream and not answered yet.
// It is kept small: the table of calls holds it by value.
type call struct {
	session *Session // nil: a request of toolman's own
	reply   jsonrpc.Sender
	ids     []byte // the client's id and, behind it, its progress token, verbatim
	idLen   int
	method  mcpwire.Method
	entry   *Entry // nil when it is about a task
	task    bool   // a task is wanted instead of the result
	n       uint64 // correlation number in the trace; 0: no trace
	came    int64  // when the client's request came; in nanoseconds since start
	sent    int64  // when it was passed on
}

func (c *call) id() []byte    { return c.ids[:c.idLen] }
func (c *call) token() []byte { return c.ids[c.idLen:] }

// is reports whether it is the session's request with this id.
func (c *call) is(s *Session, id []byte) bool {
	return c.session == s && bytes.Equal(c.id(), id)
}

// A question is a request of an upstream that was passed on to the client and
// not answered yet.
type question struct {
	from   *Upstream
	ids    []byte // the upstream's id and, behind it, its progress token
	idLen  int
	method string
	task   bool // a task is wanted instead of the result
	n      uint64
	came   int64
}

func (q *question) id() []byte    { return q.ids[:q.idLen] }
func (q *question) token() []byte { return q.ids[q.idLen:] }

// name is what clients call the thing that the call is about.
func (c *call) name() string {
	if c.entry == nil {
		return ""
	}
	return c.entry.Name
}

// itsName is what the upstream calls it.
func (c *call) itsName() string {
	if c.entry == nil {
		return ""
	}
	return c.entry.Item.Name
}

// join copies an id and a token into one piece of memory.
func join(m *jsonrpc.Message, id, token jsonrpc.Span) ([]byte, int) {
	a, b := m.Bytes(id), m.Bytes(token)
	ids := make([]byte, len(a)+len(b))
	copy(ids[copy(ids, a):], b)
	return ids, len(a)
}

// clock counts nanoseconds since its making, on a clock that does not jump.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(time.Since(c.start)) }
