package router

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/tracing"
)

// Bad implements peer.Handler. A damaged answer ends its call with an error;
// other lines, such as banners, are counted and passed over.
func (u *Upstream) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	if !u.array(m.Frame, out) {
		u.bad(m, err, out)
	}
}

func (u *Upstream) bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	u.env.Trace.Bad(tracing.Upstream, u.Name, m.Frame, err)
	id, found := AnsweredID(m, err)
	if found && u.damaged(id, err, out) {
		return
	}
	if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok && !found {
		err = u.tooLong(long, out)
	}
	if err != nil {
		u.junked(err)
	}
}

// tooLong deals with a message that is too long and no answer of which the id is
// known. A request is refused and a notification dropped; anything else may be
// the answer to any call, so that the server has to go. It returns what to log.
func (u *Upstream) tooLong(long *jsonrpc.TooLongError, out *peer.Outgoing) error {
	const advice = "raise max_message_bytes if messages of that size are right"
	id, method := long.Peek()
	if method == "" {
		go u.fail(fmt.Sprintf("it wrote %v, and it could not be told whose answer that was; %s", long, advice))
		return nil
	}
	if id != nil {
		u.SendFrame(out, jsonrpc.AppendError(nil, id, jsonrpc.CodeInvalidRequest, long.Error()+"; it was not passed on", nil), tracing.Note{Method: mcpwire.Method(method)})
	}
	return fmt.Errorf("%s: %w; %s", sanitize.Short(method), long, advice)
}

// damaged ends a call whose answer could not be read.
func (u *Upstream) damaged(id uint64, err error, out *peer.Outgoing) bool {
	c, ok := u.pending.calls.Take(id)
	if !ok {
		return false
	}
	text := fmt.Sprintf("the answer of server %s could not be passed on: %v", u.Name, err)
	if c.Caller != nil {
		u.over(&c, out)
		c.Caller.Lost(c, text, audit.Failed, out)
		return true
	}
	var m jsonrpc.Message
	frame := jsonrpc.AppendError(nil, strconv.AppendUint(nil, id, 10), jsonrpc.CodeInternalError, text, nil)
	if jsonrpc.Scan(frame, &m) == nil {
		u.pipe.control.Deliver(id, &m)
	}
	return true
}

// junked counts a line that is no message, and logs the first of a minute.
func (u *Upstream) junked(err error) {
	u.mu.Lock()
	u.pipe.junk++
	quiet := time.Since(u.pipe.junkLogged) < time.Minute
	if !quiet {
		u.pipe.junkLogged = time.Now()
	}
	count := u.pipe.junk
	u.mu.Unlock()
	if !quiet {
		u.log.Warn("the server wrote something that could not be passed on", zap.NamedError("err", err), zap.Int("count", count))
	}
}

// array handles a batch of a server of revision 2025-03-26.
func (u *Upstream) array(frame []byte, out *peer.Outgoing) bool {
	elements := Elements(frame)
	u.mu.Lock()
	may := u.offered.result.ProtocolVersion == mcpwire.V2025_03_26
	u.mu.Unlock()
	if !may || len(elements) == 0 || len(elements) > maxArray {
		return false
	}
	var m jsonrpc.Message
	for _, at := range elements {
		if err := jsonrpc.Scan(frame[at.Lo:at.Hi], &m); err != nil {
			u.bad(&m, err, out)
		} else {
			u.Message(&m, out)
		}
	}
	return true
}

// AnsweredID tells which request a message that could not be read was to answer, if
// it does.
func AnsweredID(m *jsonrpc.Message, err error) (id uint64, found bool) {
	head, tail := m.Frame, m.Frame
	if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
		head, tail = long.Head, long.Tail
	}
	id, found = jsonrpc.SalvageID(head, tail)
	if !found && m.ID.Present() && !m.Method.Present() {
		id, found = jsonrpc.ParseID(m.Bytes(m.ID))
	}
	return id, found
}

// Elements returns the elements of a frame that is a valid array, or nothing.
func Elements(frame []byte) (elements []jsonrpc.Span) {
	if len(frame) == 0 || frame[0] != '[' || !jsonrpc.Valid(frame) {
		return nil
	}
	jsonrpc.OneLine(frame)
	for at := range jsonrpc.Elements(frame, jsonrpc.Span{Hi: len(frame)}) {
		if elements = append(elements, at); len(elements) > maxArray {
			break
		}
	}
	return elements
}

// maxArray is how many messages a client may send at once.
const maxArray = 256
