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

// A call is a request that was written to an upstream and not answered yet.
// It is kept small: the table of calls holds it by value.
type call struct {
	ids
	caller  Caller // nil: a request of toolman's own
	method  mcpwire.Method
	entry   *catalog.Entry  // nil when it is about a task
	task    bool            // a task is wanted instead of the result
	modern  bool            // the client's request is of the modern era
	elicits bool            // the answer may ask the client's user something
	logs    logThreshold    // of log messages that a modern client's request wants
	place   limiter.Place   // what it has at its server's limiter
	waited  uint32          // milliseconds, there
	heard   uint32          // milliseconds from sent to the last progress; 0: there was none
	context any             // what the caller keeps with the call; the upstream does not look at it
	audited *audit.Decision // nil: there is no audit log, or it has no line for this
	n       uint64          // correlation number in the trace; 0: no trace
	came    int64           // when the client's request came; in nanoseconds since start
	sent    int64           // when it was passed on
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

// submit writes a request of the client, with the edits of out, to the upstream that
// knows what it is about by this name.
func (u *Upstream) submit(m *jsonrpc.Message, out *peer.Outgoing, c *call, token jsonrpc.Span, name string) {
	if u.admit(m, out, c) && !u.write(m, out, c, token, name) && u.pending.limiter != nil {
		u.admitNext(out)
	}
}

// write is submit for a call that may be written now. It reports whether that was so:
// if not, the call was answered.
func (u *Upstream) write(m *jsonrpc.Message, out *peer.Outgoing, c *call, token jsonrpc.Span, name string) bool {
	id, ok := u.pending.calls.Add(*c)
	if !ok {
		out.Forget()
		c.leave(u)
		c.caller.Unsent(*c, u.goneText(), audit.Gone, out)
		return false
	}
	num := out.Number(id)
	out.Edit(m.ID, num)
	if token.Present() {
		out.Edit(token, num)
	}
	if err := u.send(out, m, &tracing.Note{ID: c.n, Method: c.method, Name: name}); err != nil {
		if _, mine := u.pending.calls.Take(id); mine {
			c.leave(u)
			c.caller.Unsent(*c, u.unsentText(err), audit.Refused, out)
		}
		return false
	}
	u.watchTimeout()
	return true
}

// unsentText says why a request could not be written to the upstream.
func (u *Upstream) unsentText(err error) string {
	switch {
	case errors.Is(err, jsonrpc.ErrQueueFull):
		return fmt.Sprintf("server %s does not read what it is sent, so this call was not passed on; try again later or go on without it", u.Name)
	case errors.Is(err, jsonrpc.ErrLineBreak):
		return fmt.Sprintf("this call was not passed on to server %s: %v; send it again without the line break", u.Name, err)
	}
	return u.goneText()
}

// callOff takes a call back from the server, and returns it, unless somebody else has
// taken it before.
func (u *Upstream) callOff(id uint64, reason string, out *peer.Outgoing) (c call, ok bool) {
	if c, ok = u.pending.calls.Take(id); ok {
		u.tellOff(id, &c, reason, out)
	}
	return c, ok
}

// cancellation takes back a request with an id of toolman's own.
func cancellation(id uint64, reason string) []byte {
	params := strconv.AppendUint([]byte(`{"requestId":`), id, 10)
	params = append(jsonrpc.AppendQuoted(append(params, `,"reason":`...), reason), '}')
	return jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), params)
}

// eachCall calls f for each call that the server has not answered, toolman's own requests included.
func (u *Upstream) eachCall(f func(id uint64, c call)) { u.pending.calls.Each(f) }

// eachQueued calls f for each call that waits for its turn.
func (u *Upstream) eachQueued(f func(c *call)) {
	u.pending.limiter.Each(func(q *queuedCall) { f(&q.call) })
}

// takeCall takes a call that the server has, or that waits for its turn: then the ID is 0. It is
// for the caller to tell the server.
func (u *Upstream) takeCall(match func(*call) bool) (id uint64, c call, ok bool) {
	if id, c, ok = u.pending.calls.TakeIf(func(c call) bool { return match(&c) }); ok {
		return id, c, true
	}
	u.pending.limiter.Remove(func(q *queuedCall) bool {
		if ok || !match(&q.call) {
			return false
		}
		c, ok = q.call, true
		return true
	})
	return 0, c, ok
}

// takeQueued takes the calls that wait for their turn and match.
func (u *Upstream) takeQueued(match func(*call) bool) (taken []call) {
	for _, q := range u.pending.limiter.Remove(func(q *queuedCall) bool { return match(&q.call) }) {
		taken = append(taken, q.call)
	}
	return taken
}

// takeCalls takes the calls that the server has and that match. It may still answer them.
func (u *Upstream) takeCalls(match func(*call) bool, out *peer.Outgoing) (taken []call) {
	for _, c := range u.pending.calls.TakeAll(func(c call) bool { return match(&c) }) {
		u.over(&c.Call, out)
		taken = append(taken, c.Call)
	}
	return taken
}

// callOffAll takes the calls back from the server that match, and returns them.
func (u *Upstream) callOffAll(match func(*call) bool, reason string, out *peer.Outgoing) (taken []call) {
	for _, c := range u.pending.calls.TakeAll(func(c call) bool { return match(&c) }) {
		u.tellOff(c.ID, &c.Call, reason, out)
		taken = append(taken, c.Call)
	}
	return taken
}

// tellOff tells the server that a call, which was taken, is cancelled.
func (u *Upstream) tellOff(id uint64, c *call, reason string, out *peer.Outgoing) {
	u.pending.late.add(id)
	u.sendFrame(out, cancellation(id, reason), tracing.Note{ID: c.n, Method: mcpwire.Cancelled})
	u.calledOff(c, out)
}

// passCancel passes the client's cancellation of a call on, which was taken and has this ID at the
// server. at is where the message has the client's.
func (u *Upstream) passCancel(id uint64, c *call, m *jsonrpc.Message, at jsonrpc.Span, out *peer.Outgoing) {
	u.pending.late.add(id)
	out.Edit(at, out.Number(id))
	u.send(out, m, &tracing.Note{ID: c.n, Method: mcpwire.Cancelled})
	u.calledOff(c, out)
}
