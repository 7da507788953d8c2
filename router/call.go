package router

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/limiter"
	"toolman/router/tracing"
)

// A Call is a request that was written to an upstream and not answered yet.
// It is kept small: the table of calls holds it by value.
type Call struct {
	IDs
	Caller  Caller // nil: a request of toolman's own
	Method  mcpwire.Method
	Entry   *catalog.Entry  // nil when it is about a task
	Task    bool            // a task is wanted instead of the result
	Modern  bool            // the client's request is of the modern era
	Elicits bool            // the answer may ask the client's user something
	Logs    LogThreshold    // of log messages that a modern client's request wants
	place   limiter.Place   // what it has at its server's limiter
	Waited  uint32          // milliseconds, there
	heard   uint32          // milliseconds from sent to the last progress; 0: there was none
	Context any             // what the caller keeps with the call; the upstream does not look at it
	Audited *audit.Decision // nil: there is no audit log, or it has no line for this
	TraceID uint64          // correlation number in the trace; 0: no trace
	Came    int64           // when the client's request came; in nanoseconds since start
	Sent    int64           // when it was passed on
}

// wait notes that the call goes on now.
func (c *Call) wait(now int64) {
	c.Waited += uint32(time.Duration(now - c.Sent).Milliseconds())
	c.Sent = now
}

// hear notes that there is progress now.
func (c *Call) hear(now int64) {
	c.heard = max(1, uint32(time.Duration(now-c.Sent).Milliseconds()))
}

// maxExtended is how many times its call_timeout a call with progress can take (2025-11-25, Lifecycle,
// Timeouts: implementations "SHOULD always enforce a maximum timeout, regardless of progress
// notifications").
const maxExtended = 10

// due is when the call has taken too long: a timeout after it came, or after its last progress.
func (c *Call) due(timeout time.Duration) int64 {
	began := c.Sent - int64(c.Waited)*int64(time.Millisecond)
	if c.heard == 0 {
		return began + int64(timeout)
	}
	last := c.Sent + int64(c.heard)*int64(time.Millisecond)
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

// Submit writes a request of the client, with the edits of out, to the upstream that
// knows what it is about by this name.
func (u *Upstream) Submit(m *jsonrpc.Message, out *peer.Outgoing, c *Call, token jsonrpc.Span, name string) {
	if u.admit(m, out, c) && !u.write(m, out, c, token, name) && u.pending.limiter != nil {
		u.admitNext(out)
	}
}

// write is submit for a call that may be written now. It reports whether that was so:
// if not, the call was answered.
func (u *Upstream) write(m *jsonrpc.Message, out *peer.Outgoing, c *Call, token jsonrpc.Span, name string) bool {
	id, ok := u.pending.calls.Add(*c)
	if !ok {
		out.Forget()
		c.leave(u)
		c.Caller.Unsent(*c, u.GoneText(), audit.Gone, out)
		return false
	}
	num := out.Number(id)
	out.Edit(m.ID, num)
	if token.Present() {
		out.Edit(token, num)
	}
	if err := u.Send(out, m, &tracing.Note{ID: c.TraceID, Method: c.Method, Name: name}); err != nil {
		if _, mine := u.pending.calls.Take(id); mine {
			c.leave(u)
			c.Caller.Unsent(*c, u.unsent(err), audit.Refused, out)
		}
		return false
	}
	u.watchTimeout()
	return true
}

// unsent says why a request could not be written to the upstream.
func (u *Upstream) unsent(err error) string {
	switch {
	case errors.Is(err, jsonrpc.ErrQueueFull):
		return fmt.Sprintf("server %s does not read what it is sent, so this call was not passed on; try again later or go on without it", u.Name)
	case errors.Is(err, jsonrpc.ErrLineBreak):
		return fmt.Sprintf("this call was not passed on to server %s: %v; send it again without the line break", u.Name, err)
	}
	return u.GoneText()
}

// CallOff takes a call back from the server, and returns it, unless somebody else has
// taken it before.
func (u *Upstream) CallOff(id uint64, reason string, out *peer.Outgoing) (c Call, ok bool) {
	if c, ok = u.pending.calls.Take(id); ok {
		u.tellOff(id, &c, reason, out)
	}
	return c, ok
}

// Cancellation takes back a request with an id of toolman's own.
func Cancellation(id uint64, reason string) []byte {
	params := strconv.AppendUint([]byte(`{"requestId":`), id, 10)
	params = append(jsonrpc.AppendQuoted(append(params, `,"reason":`...), reason), '}')
	return jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), params)
}

// EachCall calls f for each call that the server has not answered, toolman's own requests included.
func (u *Upstream) EachCall(f func(id uint64, c Call)) { u.pending.calls.Each(f) }

// EachQueued calls f for each call that waits for its turn.
func (u *Upstream) EachQueued(f func(c *Call)) {
	u.pending.limiter.Each(func(q *queuedCall) { f(&q.Call) })
}

// TakeCall takes a call that the server has, or that waits for its turn: then the ID is 0. It is
// for the caller to tell the server.
func (u *Upstream) TakeCall(match func(*Call) bool) (id uint64, c Call, ok bool) {
	if id, c, ok = u.pending.calls.TakeIf(func(c Call) bool { return match(&c) }); ok {
		return id, c, true
	}
	u.pending.limiter.Remove(func(q *queuedCall) bool {
		if ok || !match(&q.Call) {
			return false
		}
		c, ok = q.Call, true
		return true
	})
	return 0, c, ok
}

// TakeQueued takes the calls that wait for their turn and match.
func (u *Upstream) TakeQueued(match func(*Call) bool) (taken []Call) {
	for _, q := range u.pending.limiter.Remove(func(q *queuedCall) bool { return match(&q.Call) }) {
		taken = append(taken, q.Call)
	}
	return taken
}

// TakeCalls takes the calls that the server has and that match. It may still answer them.
func (u *Upstream) TakeCalls(match func(*Call) bool, out *peer.Outgoing) (taken []Call) {
	for _, c := range u.pending.calls.TakeAll(func(c Call) bool { return match(&c) }) {
		u.over(&c.Call, out)
		taken = append(taken, c.Call)
	}
	return taken
}

// CallOffAll takes the calls back from the server that match, and returns them.
func (u *Upstream) CallOffAll(match func(*Call) bool, reason string, out *peer.Outgoing) (taken []Call) {
	for _, c := range u.pending.calls.TakeAll(func(c Call) bool { return match(&c) }) {
		u.tellOff(c.ID, &c.Call, reason, out)
		taken = append(taken, c.Call)
	}
	return taken
}

// tellOff tells the server that a call, which was taken, is cancelled.
func (u *Upstream) tellOff(id uint64, c *Call, reason string, out *peer.Outgoing) {
	u.pending.late.add(id)
	u.SendFrame(out, Cancellation(id, reason), tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	u.calledOff(c, out)
}

// PassCancel passes the client's cancellation of a call on, which was taken and has this ID at the
// server. at is where the message has the client's.
func (u *Upstream) PassCancel(id uint64, c *Call, m *jsonrpc.Message, at jsonrpc.Span, out *peer.Outgoing) {
	u.pending.late.add(id)
	out.Edit(at, out.Number(id))
	u.Send(out, m, &tracing.Note{ID: c.TraceID, Method: mcpwire.Cancelled})
	u.calledOff(c, out)
}
