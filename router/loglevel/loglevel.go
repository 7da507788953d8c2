package loglevel

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/feed"
	"toolman/router/input"
	"toolman/router/pool"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Levels are the log level of a client, and its requests that wait until servers log at a level.
// Conn.Mu guards them.
type Levels struct {
	*pool.Servers
	name    string // of the level; "" if the client has set none
	params  []byte // of its last logging/setLevel, for servers that start later
	pending []*wait
}

// Name returns the level that the client has set; "" if there is none.
func (s *Levels) Name() string { return s.name }

// Params returns the params of the client's last logging/setLevel; nil if there is none.
func (s *Levels) Params() []byte { return s.params }

// Waiting returns the number of requests that wait for servers.
func (s *Levels) Waiting() int { return len(s.pending) }

// Forget forgets the waiting requests, which need no answers any more.
func (s *Levels) Forget() { s.pending = nil }

// SetLocked handles logging/setLevel. It stores the level for servers that are still starting and
// sends it to the others. Modern servers receive it with each request from now on.
func (s *Levels) SetLocked(req *client.Request) {
	level, err := req.Param("level")
	if err == nil {
		err = checkLevel(req.Text(level))
	}
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	if s.params = []byte(fmt.Sprintf(`{"level":%q}`, req.Text(level))); req.Params.Hi-req.Params.Lo <= maxLevelParams {
		s.params = bytes.Clone(req.Bytes(req.Params))
	}
	s.name = string(req.Text(level))
	if s.Peer.Hello != nil {
		s.Peer.Meta = s.Peer.Hello.Claim(s.name)
	}
	s.sendLocked(req)
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

// sendLocked sends the level to the servers that log, and answers the client when they have
// answered.
func (s *Levels) sendLocked(req *client.Request) {
	l := s.newWait(nil)
	l.Asked()
	for _, u := range s.All {
		u.Feed.SetLevel(s.params, calls.ThresholdOf([]byte(s.name)), &l.LevelChange, req.Out)
	}
	if l.Answered() {
		s.Reply(req, []byte("{}"))
		return
	}
	s.waitLocked(req, l)
}

// levelTimeout is how long the answer to logging/setLevel waits for servers.
const levelTimeout = time.Second

// A wait is a request that continues when the servers have set a log level, or after levelTimeout.
// Without this wait, servers that handle requests concurrently would drop the first log messages of
// a call. The request is a logging/setLevel, or the call of a modern client to a legacy server that
// must log more than before.
type wait struct {
	client.Deferred
	feed.LevelChange
	serve func(*client.Request) // continues a call
}

// newWait returns a wait that completes itself.
func (s *Levels) newWait(serve func(*client.Request)) *wait {
	l := &wait{serve: serve}
	l.Done = func(out *peer.Outgoing) { s.complete(l, out) }
	return l
}

// waitLocked makes a request wait for l, but at most for levelTimeout.
func (s *Levels) waitLocked(req *client.Request, l *wait) {
	l.Deferred = s.Defer(req)
	s.pending = append(s.pending, l)
	time.AfterFunc(levelTimeout, func() {
		var out peer.Outgoing
		l.Done(&out)
		out.Flush()
	})
}

// complete answers or forwards the waiting request, unless that was done before or the
// request was cancelled.
func (s *Levels) complete(l *wait, out *peer.Outgoing) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i := slices.Index(s.pending, l)
	if i < 0 {
		return
	}
	s.pending = slices.Delete(s.pending, i, i+1)
	s.answerOrServeLocked(l, out, l.serve)
}

// answerOrServeLocked answers a logging/setLevel that has waited. It passes any other request to
// call.
func (s *Levels) answerOrServeLocked(l *wait, out *peer.Outgoing, call func(*client.Request)) {
	req := l.Request(out)
	if req.Method == mcpwire.SetLevel {
		s.Reply(req, []byte("{}"))
		return
	}
	call(req)
}

// MissingLocked returns the level that a modern client's call wants, if the legacy server does not
// log at it yet; else 0.
func (s *Levels) MissingLocked(req *client.Request, u *upstream.Upstream) calls.LogThreshold {
	level := req.Envelope.LogLevel.Value
	if !req.Modern || u.Source.Modern || !level.Present() {
		return 0
	}
	if want := calls.ThresholdOf(req.Text(level)); u.Feed.NeedsMoreLogs(want) {
		return want
	}
	return 0
}

// RaiseLocked makes a server log at a level. It reports whether the request then waits, to be
// passed to serve.
func (s *Levels) RaiseLocked(req *client.Request, u *upstream.Upstream, want calls.LogThreshold, serve func(*client.Request)) (waits bool) {
	l := s.newWait(serve)
	if waits = u.Feed.RaiseLogLevel(want, &l.LevelChange, req.Out); waits {
		s.waitLocked(req, l)
	}
	return waits
}

// AbandonLocked ends all waits for log levels.
func (s *Levels) AbandonLocked(out *peer.Outgoing, refuse func(*client.Request)) {
	for _, l := range s.pending {
		s.answerOrServeLocked(l, out, refuse)
	}
	s.pending = nil
}

// DropLocked removes the waiting request with this ID and returns its trace ID.
func (s *Levels) DropLocked(id []byte) (n uint64, ok bool) {
	i := slices.IndexFunc(s.pending, func(l *wait) bool { return l.Is(id) })
	if i < 0 {
		return 0, false
	}
	n = s.pending[i].TraceID
	s.pending = slices.Delete(s.pending, i, i+1)
	return n, true
}

// Ready sends the current log level to a dedicated server that has become ready.
func (s *Levels) Ready(u *upstream.Upstream) {
	var out peer.Outgoing
	waiting := u.Feed.TakeQueuedLevels()
	s.Mu.Lock()
	if s.params != nil {
		if len(waiting) == 0 {
			waiting = []*feed.LevelChange{nil}
		}
		u.Feed.SetLevel(s.params, calls.ThresholdOf([]byte(s.name)), waiting[len(waiting)-1], &out)
	}
	s.Mu.Unlock()
	for _, l := range waiting {
		if l != nil && l.Answered() {
			l.Done(&out)
		}
	}
	out.Flush()
}

// Logged passes on a log message of the server of a call, if the call wants that level.
func (s *Levels) Logged(c calls.Call, m *jsonrpc.Message, out *peer.Outgoing) {
	level, err := m.Param("level")
	if err == nil && s.wants(&c, calls.ThresholdOf(m.Text(level))) {
		s.Pass(out, m, &tracing.Note{Method: mcpwire.LogMessage, During: c.ID()})
	}
}

// wants reports whether the client of an open call wants log messages of this level.
func (s *Levels) wants(c *calls.Call, got calls.LogThreshold) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	want := c.Logs
	if !c.Modern {
		want = calls.ThresholdOf([]byte(s.name))
	}
	return input.UpdateIDs(c) && want != 0 && want <= got
}

// WantsFrom reports whether an open modern request wants the log message.
func (s *Levels) WantsFrom(u *upstream.Upstream, m *jsonrpc.Message) (wanted bool) {
	level, err := m.Param("level")
	if err != nil {
		return false
	}
	got := calls.ThresholdOf(m.Text(level))
	s.Mu.Lock()
	defer s.Mu.Unlock()
	u.Calls.EachCall(func(_ uint64, c calls.Call) {
		wanted = wanted || c.Caller == calls.Caller(s.Caller) && input.UpdateIDs(&c) && c.Logs != 0 && c.Logs <= got
	})
	return wanted
}
