package router

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

// Message implements jsonrpc.Handler.
func (u *Upstream) Message(m *jsonrpc.Message, b *jsonrpc.Batch) {
	switch m.Kind {
	case jsonrpc.Response:
		u.response(m, b)
	case jsonrpc.Notification:
		u.notification(m, b)
	case jsonrpc.Request:
		u.request(m, b)
	}
}

// response gives an answer to whoever asked, under the asker's own id. Nothing
// else in it changes.
func (u *Upstream) response(m *jsonrpc.Message, b *jsonrpc.Batch) {
	id, ok := jsonrpc.ParseID(m.Bytes(m.ID))
	var c call
	if ok {
		c, ok = u.calls.Take(id)
	}
	if !ok {
		u.unasked(id, m)
		return
	}
	if c.session == nil {
		u.r.trace.response(upstreamLeg, u.Name, m, note{n: c.n, method: c.method, leg: time.Duration(u.r.clock.now() - c.sent)})
		u.control.Deliver(id, m)
		return
	}
	if c.task {
		c.session.learnTask(u, id, &c, m)
	}
	back := u.timing(&c, m)
	if m.Loose {
		c.session.send(b, strict(c.id(), m), back)
		return
	}
	b.Edit(m.ID, c.id())
	c.session.pass(b, c.reply, m, back)
}

// timing traces an answer as it came, and returns what to say of it on its way
// to the client.
func (u *Upstream) timing(c *call, m *jsonrpc.Message) note {
	if !u.r.trace.on() {
		return note{}
	}
	now := u.r.clock.now()
	back := note{n: c.n, method: c.method, name: c.name(), leg: time.Duration(now - c.sent), total: time.Duration(now - c.came)}
	there := back
	there.name, there.total = c.itsName(), 0
	u.r.trace.response(upstreamLeg, u.Name, m, there)
	return back
}

// strict writes a response again that had both a result and an error.
func strict(id []byte, m *jsonrpc.Message) []byte {
	if m.Err.Present() {
		return jsonrpc.AppendErrorResponse(nil, id, m.Bytes(m.Err))
	}
	return jsonrpc.AppendResult(nil, id, m.Bytes(m.Result))
}

// unasked drops an answer that nobody waits for: it is late, or was invented.
func (u *Upstream) unasked(id uint64, m *jsonrpc.Message) {
	if u.late.has(id) {
		u.r.trace.response(upstreamLeg, u.Name, m, note{status: trace.StatusLate})
		return
	}
	u.r.trace.orphan(upstreamLeg, u.Name, m)
	u.log.Debug("an answer that nobody asked for was dropped", zap.ByteString("id", m.Bytes(m.ID)[:min(m.ID.Hi-m.ID.Lo, nameLimit)]))
}

// notification handles what the server tells.
func (u *Upstream) notification(m *jsonrpc.Message, b *jsonrpc.Batch) {
	method := mcpwire.Method(m.Text(m.Method))
	u.r.trace.notification(upstreamLeg, u.Name, m)
	s := u.r.session.Load()
	switch method {
	case mcpwire.ToolsListChanged:
		u.changed(mcpwire.Tool)
	case mcpwire.ResourcesListChanged:
		u.changed(mcpwire.Resource, mcpwire.Template)
	case mcpwire.PromptsListChanged:
		u.changed(mcpwire.Prompt)
	case mcpwire.Progress:
		u.progress(m, b)
	case mcpwire.Cancelled:
		u.cancelled(m, b)
	case mcpwire.ResourceUpdated:
		if s != nil {
			s.updated(u, m, b)
		}
	case mcpwire.TaskStatus:
		if s != nil {
			s.taskStatus(u, m, b)
		}
	case mcpwire.Initialized, mcpwire.RootsListChanged: // a client's to send
	default: // log messages, elicitation/complete, what later revisions add
		if s != nil && strings.HasPrefix(string(method), "notifications/") {
			s.pass(b, s.out, m, note{method: method})
		}
	}
}

// progress passes on the progress of a call while the call is open. Strict
// clients end the connection over a token they do not know.
func (u *Upstream) progress(m *jsonrpc.Message, b *jsonrpc.Batch) {
	at, err := mcpwire.IDParam(m, "progressToken")
	if err != nil || !at.Present() {
		return
	}
	id, ok := jsonrpc.ParseID(m.Bytes(at))
	if !ok {
		return
	}
	c, ok := u.calls.Get(id)
	if !ok {
		u.taskProgress(id, at, m, b)
		return
	}
	if c.session == nil || len(c.token()) == 0 {
		return
	}
	b.Edit(at, c.token())
	c.session.pass(b, c.reply, m, note{n: c.n, method: mcpwire.Progress})
}

// taskProgress passes on the progress of a call that has become a task.
func (u *Upstream) taskProgress(id uint64, at jsonrpc.Span, m *jsonrpc.Message, b *jsonrpc.Batch) {
	s := u.r.session.Load()
	if s == nil {
		return
	}
	s.mu.Lock()
	token := s.tokens[taskToken{u, id}]
	s.mu.Unlock()
	if token != nil {
		b.Edit(at, token)
		s.pass(b, s.out, m, note{method: mcpwire.Progress})
	}
}

// cancelled takes back a request that the server made to the client.
func (u *Upstream) cancelled(m *jsonrpc.Message, b *jsonrpc.Batch) {
	at, err := mcpwire.IDParam(m, "requestId")
	s := u.r.session.Load()
	if err != nil || !at.Present() || s == nil {
		return
	}
	their := m.Bytes(at)
	asked := func(q question) bool { return q.from == u && bytes.Equal(q.id(), their) }
	id, q, ok := s.asks.TakeIf(asked)
	if !ok {
		s.forgetEarly(asked)
		return
	}
	num := strconv.AppendUint(b.Scratch(), id, 10)
	b.Keep(num)
	b.Edit(at, num)
	s.pass(b, s.out, m, note{n: q.n, method: mcpwire.Cancelled})
}

// request handles what the server asks: a ping is answered here, the rest is the
// client's to answer.
func (u *Upstream) request(m *jsonrpc.Message, b *jsonrpc.Batch) {
	method := mcpwire.Method(m.Text(m.Method))
	n := u.r.trace.next()
	u.r.trace.request(upstreamLeg, u.Name, m, n, method, jsonrpc.Span{})
	if method == mcpwire.Ping {
		u.sendFrame(b, jsonrpc.AppendResult(nil, m.Bytes(m.ID), []byte("{}")), note{n: n, method: method, status: "local"})
		return
	}
	s := u.r.session.Load()
	if s == nil {
		u.sendFrame(b, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeInternalError, "no client is connected", nil), note{n: n, method: method})
		return
	}
	s.ask(u, m, b, method, n)
}

// answer writes the client's answer to a request of the server.
func (u *Upstream) answer(q *question, m *jsonrpc.Message, b *jsonrpc.Batch) {
	back := note{n: q.n, method: mcpwire.Method(q.method)}
	if u.r.trace.on() {
		back.total = time.Duration(u.r.clock.now() - q.came)
		u.r.trace.response(clientLeg, "client", m, note{n: q.n, method: back.method, leg: back.total})
	}
	if m.Loose {
		u.sendFrame(b, strict(q.id(), m), back)
		return
	}
	b.Edit(m.ID, q.id())
	u.send(b, m, back)
}

// refuseAsk answers a request of the server that the client cannot answer.
func (u *Upstream) refuseAsk(q *question, code int64, why string, b *jsonrpc.Batch) {
	frame := jsonrpc.AppendError(nil, q.id(), code, why, nil)
	if q.method == string(mcpwire.Elicit) && code == jsonrpc.CodeInternalError {
		frame = jsonrpc.AppendResult(nil, q.id(), []byte(`{"action":"cancel"}`))
	}
	u.sendFrame(b, frame, note{n: q.n, method: mcpwire.Method(q.method), status: "local"})
}

// sendFrame writes a frame of toolman's own to the server.
func (u *Upstream) sendFrame(b *jsonrpc.Batch, frame []byte, note note) {
	u.r.trace.sent(upstreamLeg, u.Name, frame, note)
	if err := b.Send(u.out, frame); err != nil {
		u.log.Debug("the server does not take what it is sent", zap.NamedError("err", err))
	}
}

// tell passes a notification of the client on, when the server is there to get it.
func (u *Upstream) tell(m *jsonrpc.Message, b *jsonrpc.Batch) {
	u.mu.Lock()
	there := u.state != Gone && u.result.ProtocolVersion != ""
	u.mu.Unlock()
	if there {
		u.send(b, m, note{method: mcpwire.Method(m.Text(m.Method))})
	}
}

// setLevel passes the client's log level on, when the server logs.
func (u *Upstream) setLevel(params []byte, b *jsonrpc.Batch) {
	u.mu.Lock()
	ready := u.state == Ready && u.result.Offers("logging")
	u.mu.Unlock()
	if !ready {
		return
	}
	n := u.r.trace.next()
	id, ok := u.calls.Add(call{method: mcpwire.SetLevel, n: n, sent: u.r.clock.now()})
	if !ok {
		return
	}
	frame := []byte(`{"jsonrpc":"2.0","id":`)
	frame = strconv.AppendUint(frame, id, 10)
	frame = append(frame, `,"method":"logging/setLevel","params":`...)
	frame = append(append(frame, params...), '}')
	u.sendFrame(b, frame, note{n: n, method: mcpwire.SetLevel})
}

// Bad implements jsonrpc.Handler. A damaged answer ends its call with an error;
// other lines, such as banners, are counted and passed over.
func (u *Upstream) Bad(m *jsonrpc.Message, err error, b *jsonrpc.Batch) {
	u.r.trace.bad(upstreamLeg, u.Name, m.Frame, err)
	id, found := answers(m, err)
	if found && u.damaged(id, err, b) {
		return
	}
	if _, long := errors.AsType[*jsonrpc.TooLongError](err); long && !found {
		reason := fmt.Sprintf("it wrote %v, and it could not be told whose answer that was; raise max_message_bytes if messages of that size are right", err)
		go u.fail(reason)
		return
	}
	u.junked(err)
}

// answers tells which request a message that could not be read was to answer, if
// it does.
func answers(m *jsonrpc.Message, err error) (id uint64, found bool) {
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

// damaged ends a call whose answer could not be read.
func (u *Upstream) damaged(id uint64, err error, b *jsonrpc.Batch) bool {
	c, ok := u.calls.Take(id)
	if !ok {
		return false
	}
	text := fmt.Sprintf("the answer of server %s could not be passed on: %v", u.Name, err)
	if c.session != nil {
		c.session.send(b, mcpwire.AppendFailure(nil, c.id(), c.method, jsonrpc.CodeInternalError, text), note{n: c.n, method: c.method})
		return true
	}
	var m jsonrpc.Message
	frame := jsonrpc.AppendError(nil, strconv.AppendUint(nil, id, 10), jsonrpc.CodeInternalError, text, nil)
	if jsonrpc.Scan(frame, &m) == nil {
		u.control.Deliver(id, &m)
	}
	return true
}

// junked counts a line that is no message, and logs the first of a minute.
func (u *Upstream) junked(err error) {
	u.mu.Lock()
	u.junk++
	quiet := time.Since(u.junkLogged) < time.Minute
	if !quiet {
		u.junkLogged = time.Now()
	}
	count := u.junk
	u.mu.Unlock()
	if !quiet {
		u.log.Warn("the server wrote something to its output that is no message; passed over", zap.NamedError("err", err), zap.Int("count", count))
	}
}
