package upstream

import (
	"bytes"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/limiter"
)

// A Call is a request that was written to an upstream and not answered yet.
// It is kept small: the table of calls holds it by value.
type Call struct {
	IDs
	Caller       Caller // nil: a request of toolman's own
	Method       mcpwire.Method
	Entry        *catalog.Entry  // nil when it is about a task
	Task         bool            // a task is wanted instead of the result
	Modern       bool            // the client's request is of the modern era
	Elicits      bool            // the answer may ask the client's user something
	Logs         LogThreshold    // of log messages that a modern client's request wants
	place        limiter.Place   // what it has at its server's limiter
	Waited       uint32          // milliseconds, there
	lastProgress uint32          // milliseconds from sent to the last progress; 0: there was none
	Context      any             // what the caller keeps with the call; the upstream does not look at it
	Audited      *audit.Decision // nil: there is no audit log, or it has no line for this
	TraceID      uint64          // correlation number in the trace; 0: no trace
	Came         int64           // when the client's request came; in nanoseconds since start
	Sent         int64           // when it was passed on
}

// noteAdmitted notes that the call goes on now.
func (c *Call) noteAdmitted(now int64) {
	c.Waited += uint32(time.Duration(now - c.Sent).Milliseconds())
	c.Sent = now
}

// noteProgress notes that there is progress now.
func (c *Call) noteProgress(now int64) {
	c.lastProgress = max(1, uint32(time.Duration(now-c.Sent).Milliseconds()))
}

// maxExtended is how many times its call_timeout a call with progress can take (2025-11-25, Lifecycle,
// Timeouts: implementations "SHOULD always enforce a maximum timeout, regardless of progress
// notifications").
const maxExtended = 10

// due is when the call has taken too long: a timeout after it came, or after its last progress.
func (c *Call) due(timeout time.Duration) int64 {
	began := c.Sent - int64(c.Waited)*int64(time.Millisecond)
	if c.lastProgress == 0 {
		return began + int64(timeout)
	}
	last := c.Sent + int64(c.lastProgress)*int64(time.Millisecond)
	return min(last+int64(timeout), began+maxExtended*int64(timeout))
}

// IDs are the asker's id and its progress token, verbatim. Those of most clients
// are a few digits, which need no memory of their own.
type IDs struct {
	short          [22]byte
	idLen, bothLen uint8 // of short
	long           *[2][]byte
}

// Keep copies the id and the progress token of a request into i, which is empty.
func (i *IDs) Keep(m *jsonrpc.Message, token jsonrpc.Span) {
	id, tok := m.Bytes(m.ID), m.Bytes(token)
	if len(id)+len(tok) > len(i.short) {
		i.long = &[2][]byte{bytes.Clone(id), bytes.Clone(tok)}
		return
	}
	i.idLen = uint8(copy(i.short[:], id))
	i.bothLen = i.idLen + uint8(copy(i.short[i.idLen:], tok))
}

// ID returns the asker's id. It is part of i.
func (i *IDs) ID() []byte {
	if i.long != nil {
		return i.long[0]
	}
	return i.short[:i.idLen]
}

// Token returns the asker's progress token, empty if there is none. It is part of i.
func (i *IDs) Token() []byte {
	if i.long != nil {
		return i.long[1]
	}
	return i.short[i.idLen:i.bothLen]
}

// Name is what clients call the thing that the call is about.
func (c *Call) Name() string {
	if c.Entry == nil {
		return ""
	}
	return c.Entry.Name
}

// ServerName is what the upstream calls it.
func (c *Call) ServerName() string {
	if c.Entry == nil {
		return ""
	}
	return c.Entry.Item.Name
}

// releasePlace takes back the call's place at its server.
func (c *Call) releasePlace(u *Upstream) {
	if c.place != limiter.None {
		u.pending.limiter.Leave(c.Caller.Principal().Client(), c.place)
		c.place = limiter.None
	}
}
