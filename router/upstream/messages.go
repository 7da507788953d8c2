package upstream

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/tracing"
)

// Message implements peer.Handler.
func (u *Upstream) Message(m *jsonrpc.Message, out *peer.Outgoing) {
	switch m.Kind {
	case jsonrpc.Response:
		u.response(m, out)
	case jsonrpc.Notification:
		u.notification(m, out)
	case jsonrpc.Request:
		u.serverRequest(m, out)
	}
}

// response gives an answer to whoever asked.
func (u *Upstream) response(m *jsonrpc.Message, out *peer.Outgoing) {
	id, _ := jsonrpc.ParseID(m.Bytes(m.ID))
	c, ok := u.pending.calls.Take(id)
	if !ok {
		u.unmatchedResponse(id, m, out)
		return
	}
	if c.Caller == nil {
		u.env.Trace.Response(tracing.Upstream, u.Name, m, tracing.Note{ID: c.TraceID, Method: c.Method, Leg: time.Duration(u.env.Clock.Now() - c.Sent)})
		if c.Method == mcpwire.Listen {
			u.listenEnded(id, &c, m)
			return
		}
		if c.Method == mcpwire.SetLevel {
			u.levelAnswered(id, out)
			return
		}
		u.pipe.control.Deliver(id, m)
		return
	}
	u.callFinished(&c, out)
	c.Audited.Answered(len(m.Frame))
	c.Caller.Answer(u, id, c, m, out)
}

// unmatchedResponse drops an answer that nobody waits for: it is late, or was invented.
func (u *Upstream) unmatchedResponse(id uint64, m *jsonrpc.Message, out *peer.Outgoing) {
	silenced := u.subscriptions.ended.Has(id)
	if silenced {
		u.reopenListsSubscription(out)
	}
	if silenced || u.pending.late.Has(id) {
		u.env.Trace.Response(tracing.Upstream, u.Name, m, tracing.Note{Status: trace.StatusLate})
		return
	}
	u.env.Trace.Orphan(tracing.Upstream, u.Name, m)
	u.Log.Debug("an answer that nobody asked for was dropped", zap.ByteString("id", m.Bytes(m.ID)[:min(m.ID.Hi-m.ID.Lo, catalog.NameLimit)]))
}

// notification handles what the server tells.
func (u *Upstream) notification(m *jsonrpc.Message, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	u.env.Trace.Notification(tracing.Upstream, u.Name, m, 0)
	switch method {
	case mcpwire.ToolsListChanged:
		u.changed(mcpwire.Tool)
	case mcpwire.ResourcesListChanged:
		u.changed(mcpwire.Resource, mcpwire.Template)
	case mcpwire.PromptsListChanged:
		u.changed(mcpwire.Prompt)
	case mcpwire.Progress:
		u.progress(m, out)
	case mcpwire.Cancelled:
		if owner := u.Owner(); owner != nil {
			owner.Cancel(u, m, out)
		}
	case mcpwire.ResourceUpdated, mcpwire.TaskStatus:
		for _, s := range u.callers() {
			s.Notify(u, m, out)
		}
	case mcpwire.LogMessage:
		u.logMessage(m, out)
	case mcpwire.Initialized, mcpwire.RootsListChanged: // a client's to send
	case mcpwire.Acknowledged: // toolman's own subscription
	default:
		if owner := u.Owner(); owner != nil {
			owner.Notify(u, m, out)
		}
	}
}

// progress passes on the progress of a call while the call is open.
func (u *Upstream) progress(m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.IDParam(m, "progressToken")
	if err != nil || !at.Present() {
		return
	}
	id, ok := jsonrpc.ParseID(m.Bytes(at))
	if !ok {
		return
	}
	c, ok := u.pending.calls.Get(id)
	if !ok {
		for _, s := range u.callers() {
			s.TaskProgress(u, id, at, m, out)
		}
		return
	}
	if c.Caller != nil && c.Caller.Progress(c, at, m, out) && u.CallTimeout > 0 {
		now := u.env.Clock.Now()
		u.pending.calls.Update(id, func(c *Call) { c.noteProgress(now) })
	}
}

// SendFrame writes a frame of toolman's own to the server.
func (u *Upstream) SendFrame(out *peer.Outgoing, frame []byte, note tracing.Note) error {
	u.env.Trace.Sent(tracing.Upstream, u.Name, frame, note)
	err := out.Send(u.pipe.out, frame)
	if err != nil {
		u.Log.Debug("the server does not take what it is sent", zap.NamedError("err", err))
	}
	return err
}

// ForwardNotification passes a notification of the client on, when the server is there to get it.
func (u *Upstream) ForwardNotification(m *jsonrpc.Message, out *peer.Outgoing) {
	u.mu.Lock()
	there := u.state != Gone && u.offered.result.ProtocolVersion != ""
	u.mu.Unlock()
	if there {
		u.Send(out, m, &tracing.Note{Method: mcpwire.Method(m.Text(m.Method))})
	}
}

// Send writes a message to the upstream, with the edits of out.
func (u *Upstream) Send(out *peer.Outgoing, m *jsonrpc.Message, note *tracing.Note) error {
	if u.env.Trace.On() {
		note.Rewrote = tracing.Rewrote(out, m)
		u.env.Trace.Sent(tracing.Upstream, u.Name, out.Preview(m.Frame), *note)
	}
	return out.Pass(u.pipe.out, m)
}

// serverRequest handles what the server asks: a ping is answered here, the rest is the
// client's to answer.
func (u *Upstream) serverRequest(m *jsonrpc.Message, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	n := u.env.Trace.Next()
	u.env.Trace.Request(tracing.Upstream, u.Name, m, n, method, jsonrpc.Span{})
	if method == mcpwire.Ping {
		u.SendFrame(out, jsonrpc.AppendResult(nil, m.Bytes(m.ID), []byte("{}")), tracing.Note{ID: n, Method: method, Status: "local"})
		return
	}
	owner := u.Owner()
	if owner == nil {
		const why = "no client is connected, or several are and this server cannot say which it means"
		u.SendFrame(out, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: n, Method: method})
		return
	}
	owner.Request(u, m, n, out)
}

// Bad implements peer.Handler. A damaged answer ends its call with an error;
// other lines, such as banners, are counted and passed over.
func (u *Upstream) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	if !u.batch(m.Frame, out) {
		u.bad(m, err, out)
	}
}

func (u *Upstream) bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	u.env.Trace.Bad(tracing.Upstream, u.Name, m.Frame, err)
	id, found := jsonrpc.AnsweredID(m, err)
	if found && u.failDamaged(id, err, out) {
		return
	}
	if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok && !found {
		err = u.tooLong(long, out)
	}
	if err != nil {
		u.countJunk(err)
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

// failDamaged ends a call whose answer could not be read.
func (u *Upstream) failDamaged(id uint64, err error, out *peer.Outgoing) bool {
	c, ok := u.pending.calls.Take(id)
	if !ok {
		return false
	}
	text := fmt.Sprintf("the answer of server %s could not be passed on: %v", u.Name, err)
	if c.Caller != nil {
		u.callFinished(&c, out)
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

// countJunk counts a line that is no message, and logs the first of a minute.
func (u *Upstream) countJunk(err error) {
	u.mu.Lock()
	u.pipe.junk++
	quiet := time.Since(u.pipe.junkLogged) < time.Minute
	if !quiet {
		u.pipe.junkLogged = time.Now()
	}
	count := u.pipe.junk
	u.mu.Unlock()
	if !quiet {
		u.Log.Warn("the server wrote something that could not be passed on", zap.NamedError("err", err), zap.Int("count", count))
	}
}

// batch handles a batch of a server of revision 2025-03-26.
func (u *Upstream) batch(frame []byte, out *peer.Outgoing) bool {
	elements := jsonrpc.BatchOf(frame, MaxBatch)
	u.mu.Lock()
	may := u.offered.result.ProtocolVersion == mcpwire.V2025_03_26
	u.mu.Unlock()
	if !may || len(elements) == 0 || len(elements) > MaxBatch {
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

// MaxBatch is how many messages a client may send at once.
const MaxBatch = 256
