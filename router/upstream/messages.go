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
	"toolman/router/calls"
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

// response gives a response to the caller that made the request.
func (u *Upstream) response(m *jsonrpc.Message, out *peer.Outgoing) {
	id, _ := jsonrpc.ParseID(m.Bytes(m.ID))
	c, ok := u.Calls.Take(id)
	if !ok {
		u.unmatchedResponse(id, m, out)
		return
	}
	if c.Caller == nil {
		u.env.Trace.Response(tracing.Upstream, u.Name, m, tracing.Note{ID: c.TraceID, Method: c.Method, Leg: time.Duration(u.env.Clock.Now() - c.SentAt)})
		switch c.Method {
		case mcpwire.Listen:
			u.Feed.ListenEnded(id, &c, m)
		case mcpwire.SetLevel:
			u.Feed.LevelAnswered(id, out)
		default:
			u.transport.control.Deliver(id, m)
		}
		return
	}
	u.Calls.Finished(&c, out)
	c.Audited.Answered(m)
	c.Caller.(Caller).Answer(u, id, c, m, out)
}

// unmatchedResponse drops a response without a pending request. Either it is late, or the server
// made it up.
func (u *Upstream) unmatchedResponse(id uint64, m *jsonrpc.Message, out *peer.Outgoing) {
	if u.Feed.EndedLate(id, out) || u.Calls.Late(id) {
		u.Results.Drop() // it may have changed something meanwhile
		u.env.Trace.Response(tracing.Upstream, u.Name, m, tracing.Note{Status: trace.StatusLate})
		return
	}
	u.env.Trace.Orphan(tracing.Upstream, u.Name, m)
	u.Log.Debug("dropped a response without a matching request", zap.ByteString("id", m.Bytes(m.ID)[:min(m.ID.Hi-m.ID.Lo, catalog.NameLimit)]))
}

// notification handles a notification of the server.
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
		u.Results.Drop()
		for _, s := range u.callers() {
			s.Notify(u, m, out)
		}
	case mcpwire.LogMessage:
		u.logMessage(m, out)
	case mcpwire.Initialized, mcpwire.RootsListChanged: // only clients send these
	case mcpwire.Acknowledged: // of toolman's own subscription
	default:
		if owner := u.Owner(); owner != nil {
			owner.Notify(u, m, out)
		}
	}
}

// progress passes on the progress of a pending call, or of a task that a call has started.
func (u *Upstream) progress(m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.IDParam(m, "progressToken")
	if err != nil || !at.Present() {
		return
	}
	id, ok := jsonrpc.ParseID(m.Bytes(at))
	if !ok {
		return
	}
	c, ok := u.Calls.Get(id)
	if !ok {
		for _, s := range u.callers() {
			s.TaskProgress(u, id, at, m, out)
		}
		return
	}
	if c.Caller != nil && c.Caller.Progress(c, at, m, out) {
		u.Calls.NoteProgress(id)
	}
}

// logMessage passes a log message on. The message does not name its call. At a server with several
// clients, a client gets it only if its call is the only one pending there.
func (u *Upstream) logMessage(m *jsonrpc.Message, out *peer.Outgoing) {
	if owner := u.Owner(); owner != nil && !u.dedicated.many {
		owner.Notify(u, m, out)
		return
	}
	var open []calls.Call
	u.Calls.EachCall(func(_ uint64, c calls.Call) {
		if c.Caller != nil {
			open = append(open, c)
		}
	})
	if len(open) == 1 {
		open[0].Caller.Logged(open[0], m, out)
	}
}

// serverRequest handles a request of the server. It answers a ping, and passes the rest to the
// owner. Without an owner the request fails: the server cannot say which client it means.
func (u *Upstream) serverRequest(m *jsonrpc.Message, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	n := u.env.Trace.Next()
	u.env.Trace.Request(tracing.Upstream, u.Name, m, n, method, jsonrpc.Span{})
	if method == mcpwire.Ping {
		u.SendFrame(out, jsonrpc.AppendResult(nil, m.Bytes(m.ID), []byte("{}")), tracing.Note{ID: n, Method: method, Status: "local"})
		return
	}
	u.Results.Drop() // the results depend on what the client answers
	owner := u.Owner()
	if owner == nil {
		const why = "no client is connected, or several are, and the request does not say which one it is for"
		u.SendFrame(out, jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, why, nil), tracing.Note{ID: n, Method: method})
		return
	}
	owner.Request(u, m, n, out)
}

// Bad implements peer.Handler. A damaged response fails its call. Other lines, such as banners, are
// counted and ignored.
func (u *Upstream) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	if !u.batch(m.Frame, out) {
		u.bad(m, err, out)
	}
}

// batch handles a JSON-RPC batch, which a server of revision 2025-03-26 may send. It returns false
// if the frame is not an acceptable batch.
func (u *Upstream) batch(frame []byte, out *peer.Outgoing) bool {
	elements := peer.Batch(frame)
	if u.result().ProtocolVersion != mcpwire.V2025_03_26 || len(elements) == 0 {
		return false
	}
	var m jsonrpc.Message
	for _, at := range elements {
		if err := jsonrpc.Scan(frame[at.Lo:at.Hi], &m); err != nil {
			u.bad(&m, err, out)
		} else {
			u.entry().Message(&m, out)
		}
	}
	return true
}

// bad handles a frame that is no message and no batch.
func (u *Upstream) bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	u.env.Trace.Bad(tracing.Upstream, u.Name, m.Frame, err)
	id, found := jsonrpc.AnsweredID(m, err)
	if found && u.failDamaged(id, err, out) {
		return
	}
	if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok && !found {
		err = u.tooLong(long, out)
	}
	if err == nil {
		return
	}
	if count, log := u.transport.junk.Add(); log {
		u.Log.Warn("dropped a line of the server that is not a valid message", zap.NamedError("err", err), zap.Int("count", count))
	}
}

// failDamaged ends a call whose response could not be read. It returns false if no call has this
// ID.
func (u *Upstream) failDamaged(id uint64, err error, out *peer.Outgoing) bool {
	c, ok := u.Calls.Take(id)
	if !ok {
		return false
	}
	text := fmt.Sprintf("the answer of server %s could not be passed on: %v", u.Name, err)
	if c.Caller != nil {
		u.Calls.Finished(&c, out)
		c.Caller.Lost(c, text, audit.Failed, out)
		return true
	}
	var m jsonrpc.Message
	frame := jsonrpc.AppendError(nil, strconv.AppendUint(nil, id, 10), jsonrpc.CodeInternalError, text, nil)
	if jsonrpc.Scan(frame, &m) == nil {
		u.transport.control.Deliver(id, &m)
	}
	return true
}

// tooLong handles a message over the size limit that is not known to be the response to a pending
// call. A request is refused and a notification dropped. Any other message may be the response to
// any call, so the server is ended. tooLong returns the error to log; nil: none.
func (u *Upstream) tooLong(long *jsonrpc.TooLongError, out *peer.Outgoing) error {
	const advice = "raise max_message_bytes if messages of that size are expected"
	id, method := long.Peek()
	if method == "" {
		go u.fail(fmt.Sprintf("it wrote %v, which may be the response to any call; %s", long, advice))
		return nil
	}
	if id != nil {
		u.SendFrame(out, jsonrpc.AppendError(nil, id, jsonrpc.CodeInvalidRequest, long.Error()+"; it was not passed on", nil), tracing.Note{Method: mcpwire.Method(method)})
	}
	return fmt.Errorf("%s: %w; %s", sanitize.Short(method), long, advice)
}

// ForwardNotification sends a notification of the client to the server, if its handshake is done
// and it is not gone.
func (u *Upstream) ForwardNotification(m *jsonrpc.Message, out *peer.Outgoing) {
	if !u.Is(Gone) && !u.Recalled() && u.result().ProtocolVersion != "" {
		u.Send(out, m, &tracing.Note{Method: mcpwire.Method(m.Text(m.Method))})
	}
}

// Send writes a message to the server, with the edits of out.
func (u *Upstream) Send(out *peer.Outgoing, m *jsonrpc.Message, note *tracing.Note) error {
	u.env.Trace.Passed(tracing.Upstream, u.Name, m, out, note)
	return out.Pass(u.transport.out, m)
}

// SendFrame writes a frame of toolman's own to the server.
func (u *Upstream) SendFrame(out *peer.Outgoing, frame []byte, note tracing.Note) error {
	u.env.Trace.Sent(tracing.Upstream, u.Name, frame, note)
	err := out.Send(u.transport.out, frame)
	if err != nil {
		u.Log.Debug("cannot write to the server", zap.NamedError("err", err))
	}
	return err
}

// sendControl writes a frame of the jsonrpc.Control, which makes toolman's own requests.
func (u *Upstream) sendControl(frame []byte) error {
	if u.env.Trace.On() {
		var own tracing.Note
		var m jsonrpc.Message
		if jsonrpc.Scan(frame, &m) == nil {
			id, _ := jsonrpc.ParseID(m.Bytes(m.ID))
			c, _ := u.Calls.Get(id)
			own = tracing.Note{ID: c.TraceID, Method: c.Method}
		}
		u.env.Trace.Sent(tracing.Upstream, u.Name, frame, own)
	}
	if err := u.transport.out.Queue(frame, nil); err != nil {
		return err
	}
	u.transport.out.Flush()
	return nil
}

// controlIDs gives the requests of the jsonrpc.Control IDs from the table of pending calls, which
// the client's calls use too.
type controlIDs struct{ u *Upstream }

// Next adds a request to the table and returns its ID; false if the upstream is gone.
func (o controlIDs) Next(method string) (uint64, bool) {
	env := o.u.env
	return o.u.Calls.Add(calls.Call{Method: mcpwire.Method(method), TraceID: env.Trace.Next(), SentAt: env.Clock.Now()})
}

// Forget removes a request that toolman has given up.
func (o controlIDs) Forget(id uint64) { o.u.Calls.Forget(id) }

// A callConn is an upstream as its table of calls sees it.
type callConn Upstream

// Send implements calls.Conn.
func (u *callConn) Send(out *peer.Outgoing, m *jsonrpc.Message, note tracing.Note) error {
	return (*Upstream)(u).Send(out, m, &note)
}

// SendFrame implements calls.Conn.
func (u *callConn) SendFrame(out *peer.Outgoing, frame []byte, note tracing.Note) error {
	return (*Upstream)(u).SendFrame(out, frame, note)
}

// GoneText implements calls.Conn.
func (u *callConn) GoneText() string { return (*Upstream)(u).GoneText() }

// Dequeued implements calls.Conn. A leased upstream may not have been ready when the call was
// queued.
func (u *callConn) Dequeued(c *calls.Call, out *peer.Outgoing) {
	if u.dedicated.leased {
		u.Feed.RaiseLogLevel(c.Logs, nil, out)
	}
}

// Lingers implements calls.Conn. The HTTP request to a legacy server stays open.
func (u *callConn) Lingers() bool { return u.Dial != nil && !u.Source.Modern }
