package router

import (
	"slices"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/client"
	"toolman/router/upstream"
)

// levelTime is how long the answer to logging/setLevel waits for servers.
const levelTime = time.Second

// A pendingLogLevel is a request that goes on once the servers have taken a log level, or after
// levelTime: servers that handle requests side by side would otherwise miss what a
// call logs at first. It is a logging/setLevel, which is answered then, or the
// call of a modern client to a legacy server that is to log more than before.
type pendingLogLevel struct {
	client.Deferred
	upstream.LevelChange
}

// levelLocked tells the servers that log, and answers the client when they have heard.
func (s *Session) levelLocked(req *client.Request) {
	l := s.newLogLevel()
	l.Asked()
	for _, u := range s.servers.All {
		u.SetLevel(s.logLevel.params, upstream.ThresholdOf([]byte(s.logLevel.name)), &l.LevelChange, req.Out)
	}
	if l.Answered() {
		s.Reply(req, []byte("{}"))
		return
	}
	s.waitLocked(req, l)
}

// logLevelRaisedLocked reports whether a modern client's call to a server may go on: that logs what
// the call wants to hear. If not, the call waits until it does.
func (s *Session) logLevelRaisedLocked(req *client.Request, u *upstream.Upstream) bool {
	level := req.Envelope.LogLevel.Value
	if !req.Modern || u.Source.Modern || !level.Present() {
		return true
	}
	want := upstream.ThresholdOf(req.Text(level))
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

func (s *Session) newLogLevel() *pendingLogLevel {
	l := &pendingLogLevel{}
	l.Done = func(out *peer.Outgoing) { s.goOn(l, out) }
	return l
}

func (s *Session) waitLocked(req *client.Request, l *pendingLogLevel) {
	l.Deferred = s.Defer(req)
	s.logLevel.pending = append(s.logLevel.pending, l)
	time.AfterFunc(levelTime, func() {
		var out peer.Outgoing
		l.Done(&out)
		out.Flush()
	})
}

// Ready implements Caller. It tells an upstream of the session's own, which is ready now, the level that was
// set before.
func (s *Session) Ready(u *upstream.Upstream) {
	var out peer.Outgoing
	waiting := u.TakeQueuedLevels()
	s.Mu.Lock()
	if s.logLevel.params != nil {
		if len(waiting) == 0 {
			waiting = []*upstream.LevelChange{nil}
		}
		u.SetLevel(s.logLevel.params, upstream.ThresholdOf([]byte(s.logLevel.name)), waiting[len(waiting)-1], &out)
	}
	s.Mu.Unlock()
	for _, l := range waiting {
		if l != nil && l.Answered() {
			l.Done(&out)
		}
	}
	out.Flush()
}

// goOn answers the client, or passes its call on, unless that has happened or it wants no
// answer.
func (s *Session) goOn(l *pendingLogLevel, out *peer.Outgoing) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i := slices.Index(s.logLevel.pending, l)
	if i < 0 {
		return
	}
	s.logLevel.pending = slices.Delete(s.logLevel.pending, i, i+1)
	s.takenLocked(l, out, s.whenOpenLocked)
}

// takenLocked deals with a request that has waited: one for the level is answered.
func (s *Session) takenLocked(l *pendingLogLevel, out *peer.Outgoing, call func(*client.Request)) {
	req := l.Request(out)
	if req.Method == mcpwire.SetLevel {
		s.Reply(req, []byte("{}"))
		return
	}
	call(req)
}

// abandonLogLevelsLocked waits for no server any more.
func (s *Session) abandonLogLevelsLocked(out *peer.Outgoing, refuse func(*client.Request)) {
	for _, l := range s.logLevel.pending {
		s.takenLocked(l, out, refuse)
	}
	s.logLevel.pending = nil
}

// dropLogLevelLocked forgets the request with this id, if it is one, and returns its
// correlation number.
func (s *Session) dropLogLevelLocked(id []byte) (n uint64, ok bool) {
	i := slices.IndexFunc(s.logLevel.pending, func(l *pendingLogLevel) bool { return l.Is(id) })
	if i < 0 {
		return 0, false
	}
	n = s.logLevel.pending[i].TraceID
	s.logLevel.pending = slices.Delete(s.logLevel.pending, i, i+1)
	return n, true
}
