package calls

import (
	"bytes"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/cache"
	"toolman/router/catalog"
	"toolman/router/limiter"
)

// A Caller makes calls and is told what becomes of them. Calls are passed by value: taking a Call's
// address for an interface method would allocate it.
type Caller interface {
	// Principal returns the client whose share of the limiter the calls count in.
	Principal() budget.Principal
	// Unsent answers a call that was not sent to its upstream.
	Unsent(c Call, problem string, how audit.Outcome, out *peer.Outgoing)
	// Lost answers a call that was sent or queued and gets no response.
	Lost(c Call, problem string, how audit.Outcome, out *peer.Outgoing)
	// Progress passes on progress of a call. at is the span of the progress token in m. It reports
	// whether the client wants progress of the call.
	Progress(c Call, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) bool
	// Logged passes on a log message of a shared upstream where c is the only pending call.
	Logged(c Call, m *jsonrpc.Message, out *peer.Outgoing)
}

// A Call is a request that is pending at an upstream, or queued for it. It is kept small, because
// the table of pending calls stores it by value.
type Call struct {
	IDs
	Caller       Caller // nil: a request of toolman's own
	Method       mcpwire.Method
	Entry        *catalog.Entry  // the item that is called; nil for a request about a task
	Task         bool            // the client wants a task instead of the result
	Modern       bool            // the client's request is of the modern era
	Elicits      bool            // the response may contain elicitation requests
	Logs         LogThreshold    // of the log messages that a modern request wants
	place        limiter.Place   // at the limiter
	Waited       uint32          // milliseconds in the queue of the limiter
	lastProgress uint32          // milliseconds from SentAt to the last progress; 0: none
	Context      any             // the caller's own data
	Cached       *cache.Call     // keeps the result; nil: it is not kept, and changes no other
	Audited      *audit.Decision // nil: the audit log has no line for this call
	TraceID      uint64          // correlation number in the trace; 0: no trace
	ArrivedAt    int64           // when the client's request arrived, on the router's clock
	SentAt       int64           // when it was queued or sent
}

// noteAdmitted adds the time in the queue to Waited and sets SentAt to now.
func (c *Call) noteAdmitted(now int64) {
	c.Waited += uint32(time.Duration(now - c.SentAt).Milliseconds())
	c.SentAt = now
}

// noteProgress records that the server reported progress at the time now.
func (c *Call) noteProgress(now int64) {
	c.lastProgress = max(1, uint32(time.Duration(now-c.SentAt).Milliseconds()))
}

// maxExtended is how many times call_timeout a call with progress may take at most (2025-11-25,
// Lifecycle, Timeouts: implementations "SHOULD always enforce a maximum timeout, regardless of
// progress notifications").
const maxExtended = 10

// due returns when the call times out: timeout after it arrived, or after its last progress.
func (c *Call) due(timeout time.Duration) int64 {
	began := c.SentAt - int64(c.Waited)*int64(time.Millisecond)
	if c.lastProgress == 0 {
		return began + int64(timeout)
	}
	last := c.SentAt + int64(c.lastProgress)*int64(time.Millisecond)
	return min(last+int64(timeout), began+maxExtended*int64(timeout))
}

// Name returns toolman's name of the item; "" if there is none.
func (c *Call) Name() string {
	if c.Entry == nil {
		return ""
	}
	return c.Entry.Name
}

// ServerName returns the server's name of the item; "" if there is none.
func (c *Call) ServerName() string {
	if c.Entry == nil {
		return ""
	}
	return c.Entry.Item.Name
}

// A LogThreshold is the lowest severity of log messages that are wanted: 0 for none, else the rank
// of a level plus 1.
type LogThreshold uint8

// ThresholdOf returns the threshold of a level name; 0 if there is no such level.
func ThresholdOf(level []byte) LogThreshold {
	rank, ok := mcpwire.LevelRank(level)
	if !ok {
		return 0
	}
	return LogThreshold(rank + 1)
}

// IDs are the client's request ID and progress token, verbatim. Most are a few digits, and are
// stored without an allocation.
type IDs struct {
	short          [22]byte
	idLen, bothLen uint8 // lengths in short of the ID, and of the ID and the token
	long           *[2][]byte
}

// Keep copies the ID and the progress token of a request into i, which must be empty.
func (i *IDs) Keep(m *jsonrpc.Message, token jsonrpc.Span) {
	id, tok := m.Bytes(m.ID), m.Bytes(token)
	if len(id)+len(tok) > len(i.short) {
		i.long = &[2][]byte{bytes.Clone(id), bytes.Clone(tok)}
		return
	}
	i.idLen = uint8(copy(i.short[:], id))
	i.bothLen = i.idLen + uint8(copy(i.short[i.idLen:], tok))
}

// ID returns the request ID. It is valid as long as i.
func (i *IDs) ID() []byte {
	if i.long != nil {
		return i.long[0]
	}
	return i.short[:i.idLen]
}

// Token returns the progress token, empty if there is none. It is valid as long as i.
func (i *IDs) Token() []byte {
	if i.long != nil {
		return i.long[1]
	}
	return i.short[i.idLen:i.bothLen]
}
