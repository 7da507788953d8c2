package session

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// maxDeferred is the maximum number of the client's requests that wait.
const maxDeferred = 4096

// deferLocked stores a request until it can be served, or refuses it if too many requests wait.
func (s *Session) deferLocked(req *client.Request) {
	if len(s.waiting.deferred) >= maxDeferred || client.OverBytes(s.waiting.deferred, len(req.Frame)) {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy),
			Text: "too many requests while " + s.waitReasonLocked() + "; wait for the answers and send it again"})
		return
	}
	s.waiting.deferred = append(s.waiting.deferred, s.Defer(req))
}

// waitReasonLocked returns what requests wait for.
func (s *Session) waitReasonLocked() string {
	if s.waiting.background != nil {
		return "a toolset is read or written"
	}
	return "the upstream servers start"
}

// dropDeferredLocked removes the deferred request with this ID and returns its trace ID.
func (s *Session) dropDeferredLocked(id []byte) (n uint64, ok bool) {
	for i, p := range s.waiting.deferred {
		if p.Is(id) {
			s.waiting.deferred = append(s.waiting.deferred[:i], s.waiting.deferred[i+1:]...)
			return p.TraceID, true
		}
	}
	return 0, false
}

// ServeDeferred serves the deferred requests.
func (s *Session) ServeDeferred() {
	s.WithLock(func(out *peer.Outgoing) {
		s.serveDeferredLocked(out, s.serveWhenReadyLocked)
	})
}

// serveDeferredLocked passes every deferred request to handle. The requests keep their arrival
// times.
func (s *Session) serveDeferredLocked(out *peer.Outgoing, handle func(*client.Request)) {
	waited := s.waiting.deferred
	s.waiting.deferred = nil
	for _, p := range waited {
		handle(p.Request(out))
	}
}

// backgroundTimeout limits the disk access of a request.
const backgroundTimeout = 3 * time.Second

// A backgroundTask is work for a request that waits for the disk. It runs on its own goroutine.
// Later requests of the client wait for it, so that they see its effect.
type backgroundTask struct {
	client.Deferred
	dropped bool // the request needs no answer any more
}

// A completion answers the request of a background task.
type completion func(req *client.Request)

// runInBackgroundLocked runs work on another goroutine and then the completion that work returns.
func (s *Session) runInBackgroundLocked(req *client.Request, work func(ctx context.Context) completion) {
	e := &backgroundTask{Deferred: s.Defer(req)}
	s.waiting.background = e
	go func() {
		ctx, cancel := context.WithTimeout(s.env.Context, backgroundTimeout)
		defer cancel()
		s.completeBackground(e, work(ctx))
	}()
}

// completeBackground answers the request of a background task and serves the requests that waited
// for it.
func (s *Session) completeBackground(e *backgroundTask, answer completion) {
	s.WithLock(func(out *peer.Outgoing) {
		s.waiting.background = nil
		if !e.dropped {
			answer(e.Request(out))
		}
		s.serveDeferredLocked(out, s.serveWhenReadyLocked)
	})
}

// dropBackgroundLocked drops the request of a background task because the client has cancelled it,
// and returns its trace ID. The work itself continues.
func (s *Session) dropBackgroundLocked(id []byte) (n uint64, ok bool) {
	e := s.waiting.background
	if e == nil || e.dropped || !e.Is(id) {
		return 0, false
	}
	e.dropped = true
	s.BeginOwnAudit(e.Request(nil), e.TraceID).End(audit.Cancelled)
	return e.TraceID, true
}

// endBackgroundLocked answers the request of a background task whose end is not awaited.
func (s *Session) endBackgroundLocked(out *peer.Outgoing, answer func(*client.Request)) {
	if e := s.waiting.background; e != nil && !e.dropped {
		e.dropped = true
		req := e.Request(out)
		s.BeginOwnAudit(req, e.TraceID).End(audit.Cancelled)
		answer(req)
	}
}

// setLevelLocked handles logging/setLevel. It stores the level for servers that are still starting
// and sends it to the others. Modern servers receive it with each request from now on.
func (s *Session) setLevelLocked(req *client.Request) {
	level, err := req.Param("level")
	if err == nil {
		err = checkLevel(req.Text(level))
	}
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	if s.logLevel.params = []byte(fmt.Sprintf(`{"level":%q}`, req.Text(level))); req.Params.Hi-req.Params.Lo <= maxLevelParams {
		s.logLevel.params = bytes.Clone(req.Bytes(req.Params))
	}
	s.logLevel.name = string(req.Text(level))
	if s.Peer.Hello != nil {
		s.Peer.Meta = s.Peer.Hello.Claim(s.logLevel.name)
	}
	s.sendLevelLocked(req)
}

// maxLevelParams is the maximum size in bytes of the params that are stored for servers that start
// later. Of longer params only the level is stored.
const maxLevelParams = 4 << 10

// checkLevel returns an error if level is not a log level.
func checkLevel(level []byte) error {
	if _, ok := mcpwire.LevelRank(level); ok {
		return nil
	}
	return fmt.Errorf("unknown log level %q; use debug, info, notice, warning, error, critical, alert or emergency", sanitize.Cut(string(level), catalog.NameLimit))
}

// sendLevelLocked sends the level to the servers that log, and answers the client when they have
// answered.
func (s *Session) sendLevelLocked(req *client.Request) {
	l := s.newLogLevel()
	l.Asked()
	for _, u := range s.servers.All {
		u.SetLevel(s.logLevel.params, calls.ThresholdOf([]byte(s.logLevel.name)), &l.LevelChange, req.Out)
	}
	if l.Answered() {
		s.Reply(req, []byte("{}"))
		return
	}
	s.waitLocked(req, l)
}

// levelTimeout is how long the answer to logging/setLevel waits for servers.
const levelTimeout = time.Second

// A pendingLogLevel is a request that continues when the servers have set a log level, or after
// levelTimeout. Without this wait, servers that handle requests concurrently would drop the first
// log messages of a call. The request is a logging/setLevel, or the call of a modern client to a
// legacy server that must log more than before.
type pendingLogLevel struct {
	client.Deferred
	upstream.LevelChange
}

// newLogLevel returns a pendingLogLevel that completes itself.
func (s *Session) newLogLevel() *pendingLogLevel {
	l := &pendingLogLevel{}
	l.Done = func(out *peer.Outgoing) { s.completeLogLevel(l, out) }
	return l
}

// waitLocked makes a request wait for l, but at most for levelTimeout.
func (s *Session) waitLocked(req *client.Request, l *pendingLogLevel) {
	l.Deferred = s.Defer(req)
	s.logLevel.pending = append(s.logLevel.pending, l)
	time.AfterFunc(levelTimeout, func() {
		var out peer.Outgoing
		l.Done(&out)
		out.Flush()
	})
}

// completeLogLevel answers or forwards the waiting request, unless that was done before or the
// request was cancelled.
func (s *Session) completeLogLevel(l *pendingLogLevel, out *peer.Outgoing) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i := slices.Index(s.logLevel.pending, l)
	if i < 0 {
		return
	}
	s.logLevel.pending = slices.Delete(s.logLevel.pending, i, i+1)
	s.answerOrServeLocked(l, out, s.serveWhenReadyLocked)
}

// answerOrServeLocked answers a logging/setLevel that has waited. It passes any other request to
// call.
func (s *Session) answerOrServeLocked(l *pendingLogLevel, out *peer.Outgoing, call func(*client.Request)) {
	req := l.Request(out)
	if req.Method == mcpwire.SetLevel {
		s.Reply(req, []byte("{}"))
		return
	}
	call(req)
}

// logLevelRaisedLocked reports whether a modern client's call may be forwarded because the server
// logs at the level that the call wants. If not, the call waits.
func (s *Session) logLevelRaisedLocked(req *client.Request, u *upstream.Upstream) bool {
	level := req.Envelope.LogLevel.Value
	if !req.Modern || u.Source.Modern || !level.Present() {
		return true
	}
	want := calls.ThresholdOf(req.Text(level))
	if !u.NeedsMoreLogs(want) {
		return true
	}
	l := s.newLogLevel()
	if !u.RaiseLogLevel(want, &l.LevelChange, req.Out) {
		return true
	}
	s.waitLocked(req, l)
	return false
}

// abandonLogLevelsLocked ends all waits for log levels.
func (s *Session) abandonLogLevelsLocked(out *peer.Outgoing, refuse func(*client.Request)) {
	for _, l := range s.logLevel.pending {
		s.answerOrServeLocked(l, out, refuse)
	}
	s.logLevel.pending = nil
}

// dropLogLevelLocked removes the waiting request with this ID and returns its trace ID.
func (s *Session) dropLogLevelLocked(id []byte) (n uint64, ok bool) {
	i := slices.IndexFunc(s.logLevel.pending, func(l *pendingLogLevel) bool { return l.Is(id) })
	if i < 0 {
		return 0, false
	}
	n = s.logLevel.pending[i].TraceID
	s.logLevel.pending = slices.Delete(s.logLevel.pending, i, i+1)
	return n, true
}

// Ready implements upstream.Caller. It sends the current log level to a dedicated server that has
// become ready.
func (s *Session) Ready(u *upstream.Upstream) {
	var out peer.Outgoing
	waiting := u.TakeQueuedLevels()
	s.Mu.Lock()
	if s.logLevel.params != nil {
		if len(waiting) == 0 {
			waiting = []*upstream.LevelChange{nil}
		}
		u.SetLevel(s.logLevel.params, calls.ThresholdOf([]byte(s.logLevel.name)), waiting[len(waiting)-1], &out)
	}
	s.Mu.Unlock()
	for _, l := range waiting {
		if l != nil && l.Answered() {
			l.Done(&out)
		}
	}
	out.Flush()
}

// Logged implements upstream.Caller. The client receives the message if its call wants that level.
func (s *Session) Logged(c calls.Call, m *jsonrpc.Message, out *peer.Outgoing) {
	level, err := m.Param("level")
	if err == nil && s.wantsLog(&c, calls.ThresholdOf(m.Text(level))) {
		s.Pass(out, m, &tracing.Note{Method: mcpwire.LogMessage, During: c.ID()})
	}
}

// wantsLog reports whether the client of an open call wants log messages of this level.
func (s *Session) wantsLog(c *calls.Call, got calls.LogThreshold) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	want := c.Logs
	if !c.Modern {
		want = calls.ThresholdOf([]byte(s.logLevel.name))
	}
	return input.UpdateIDs(c) && want != 0 && want <= got
}

// passLog forwards a log message of a dedicated server. A modern client receives messages of a
// legacy server only while one of its open requests asks for them, because the message does not say
// which request it belongs to (2026-07-28, Logging).
func (s *Session) passLog(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	if !u.Source.Modern && !s.InSession() && !s.wantsLogFrom(u, m) {
		return
	}
	s.Pass(out, m, &tracing.Note{Method: mcpwire.LogMessage, During: s.input.OpenAt(u)})
}

// wantsLogFrom reports whether an open modern request wants the log message.
func (s *Session) wantsLogFrom(u *upstream.Upstream, m *jsonrpc.Message) (wanted bool) {
	level, err := m.Param("level")
	if err != nil {
		return false
	}
	got := calls.ThresholdOf(m.Text(level))
	s.Mu.Lock()
	defer s.Mu.Unlock()
	u.Calls.EachCall(func(_ uint64, c calls.Call) {
		wanted = wanted || s.owns(&c) && input.UpdateIDs(&c) && c.Logs != 0 && c.Logs <= got
	})
	return wanted
}
