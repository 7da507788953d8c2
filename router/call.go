package router

import (
	"bytes"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/limiter"
)

// A call is a request that was written to an upstream and not answered yet.
// It is kept small: the table of calls holds it by value.
type call struct {
	ids
	session     *Session // nil: a request of toolman's own
	method      mcpwire.Method
	entry       *catalog.Entry // nil when it is about a task
	task        bool           // a task is wanted instead of the result
	modern      bool           // the client's request is of the modern era
	elicits     bool           // the answer may ask the client's user something
	logs        logThreshold   // of log messages that a modern client's request wants
	place       limiter.Place  // what it has at its server's limiter
	waited      uint32         // milliseconds, there
	heard       uint32         // milliseconds from sent to the last progress; 0: there was none
	translation *translation
	audited     *audit.Decision // nil: there is no audit log, or it has no line for this
	n           uint64          // correlation number in the trace; 0: no trace
	came        int64           // when the client's request came; in nanoseconds since start
	sent        int64           // when it was passed on
}

// failure makes toolman's own answer to the call.
func (c *call) failure(code int64, problem string) []byte {
	return mcpwire.AppendFailure(eraOf(c.modern), nil, c.id(), c.method, code, problem)
}

// wait notes that the call goes on now.
func (c *call) wait(now int64) {
	c.waited += uint32(time.Duration(now - c.sent).Milliseconds())
	c.sent = now
}

// hear notes that there is progress now.
func (c *call) hear(now int64) {
	c.heard = max(1, uint32(time.Duration(now-c.sent).Milliseconds()))
}

// maxExtended is how many times its call_timeout a call with progress can take (2025-11-25, Lifecycle,
// Timeouts: implementations "SHOULD always enforce a maximum timeout, regardless of progress
// notifications").
const maxExtended = 10

// due is when the call has taken too long: a timeout after it came, or after its last progress.
func (c *call) due(timeout time.Duration) int64 {
	began := c.sent - int64(c.waited)*int64(time.Millisecond)
	if c.heard == 0 {
		return began + int64(timeout)
	}
	last := c.sent + int64(c.heard)*int64(time.Millisecond)
	return min(last+int64(timeout), began+maxExtended*int64(timeout))
}

// is reports whether the session's request with this id waits for it. Session.mu is
// held.
func (c *call) is(s *Session, id []byte) bool {
	return c.session == s && c.currentLocked() && bytes.Equal(c.id(), id)
}

// A serverRequest is a request of an upstream that was passed on to the client and
// not answered yet.
type serverRequest struct {
	ids
	from   *Upstream
	method string
	task   bool // a task is wanted instead of the result
	n      uint64
	came   int64
	round  *inputRound // not nil: it is a leg of a round of from's, and not its request
	leg    int         // of the round
}

// ids are the asker's id and its progress token, verbatim. Those of most clients
// are a few digits, which need no memory of their own.
type ids struct {
	short          [22]byte
	idLen, bothLen uint8 // of short
	long           *[2][]byte
}

// keep copies the id and the progress token of a request into i, which is empty.
func (i *ids) keep(m *jsonrpc.Message, token jsonrpc.Span) {
	id, tok := m.Bytes(m.ID), m.Bytes(token)
	if len(id)+len(tok) > len(i.short) {
		i.long = &[2][]byte{bytes.Clone(id), bytes.Clone(tok)}
		return
	}
	i.idLen = uint8(copy(i.short[:], id))
	i.bothLen = i.idLen + uint8(copy(i.short[i.idLen:], tok))
}

// id returns the asker's id. It is part of i.
func (i *ids) id() []byte {
	if i.long != nil {
		return i.long[0]
	}
	return i.short[:i.idLen]
}

// token returns the asker's progress token, empty if there is none. It is part of i.
func (i *ids) token() []byte {
	if i.long != nil {
		return i.long[1]
	}
	return i.short[i.idLen:i.bothLen]
}

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
