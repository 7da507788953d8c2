package router

import (
	"bytes"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/tracing"
)

// setLevelLocked keeps the level for servers that are still starting, passes it on to
// the others, and says it to modern ones with each request from now on.
func (s *Session) setLevelLocked(req *request) {
	level, err := req.Param("level")
	if err == nil {
		err = checkLevel(req.Text(level))
	}
	if err != nil {
		s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
		return
	}
	if s.logLevel.params = []byte(fmt.Sprintf(`{"level":%q}`, req.Text(level))); req.Params.Hi-req.Params.Lo <= maxLevelParams {
		s.logLevel.params = bytes.Clone(req.Bytes(req.Params))
	}
	s.logLevel.name = string(req.Text(level))
	if s.peer.hello != nil {
		s.peer.meta = s.peer.hello.Claim(s.logLevel.name)
	}
	s.levelLocked(req)
}

// maxLevelParams is how many bytes of params are kept for servers that are told the level later.
// Of longer ones it is the level alone.
const maxLevelParams = 4 << 10

func checkLevel(level []byte) error {
	if _, ok := mcpwire.LevelRank(level); ok {
		return nil
	}
	return fmt.Errorf("unknown log level %q; use debug, info, notice, warning, error, critical, alert or emergency", sanitize.Cut(string(level), catalog.NameLimit))
}

// setLevel passes the client's log level on, when the server logs. What waits for its answer
// may be nil. One that is shared logs what any client wants, and each hears no more than it wants.
func (u *Upstream) setLevel(params []byte, want logThreshold, l *pendingLogLevel, out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if l != nil && u.state == Starting && u.private.replaces != nil {
		l.left.Add(1)
		u.logLevels.queued = append(u.logLevels.queued, l)
	}
	if u.state != Ready || !u.offered.result.Offers("logging") || u.source.Modern {
		return
	}
	if u.owner() == nil {
		if u.logLevels.raised != 0 && u.logLevels.raised <= want {
			return
		}
		u.logLevels.raised = want
	}
	u.levelLocked(params, l, out)
}

// levelLocked asks the server for a level. What waits for its answer may be nil.
func (u *Upstream) levelLocked(params []byte, l *pendingLogLevel, out *peer.Outgoing) {
	id := u.ask(mcpwire.SetLevel, params, out)
	if l == nil || id == 0 {
		return
	}
	l.left.Add(1)
	if u.logLevels.pending == nil {
		u.logLevels.pending = map[uint64]*pendingLogLevel{}
	}
	u.logLevels.pending[id] = l
}

// logThreshold is a log level as a call remembers it: 0 for none, and the more the
// less is wanted.
type logThreshold uint8

func logThresholdOf(level []byte) logThreshold {
	rank, ok := mcpwire.LevelRank(level)
	if !ok {
		return 0
	}
	return logThreshold(rank + 1)
}

// needsMoreLogs reports whether a server that logs is to log more for what wants this.
func (u *Upstream) needsMoreLogs(want logThreshold) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.logsLessLocked(want)
}

func (u *Upstream) logsLessLocked(want logThreshold) bool {
	return want != 0 && (u.logLevels.raised == 0 || u.logLevels.raised > want) && u.state == Ready && u.offered.result.Offers("logging")
}

// raiseLogLevel makes a legacy server log what a modern client's call wants to hear. It goes on
// to do so: what is too much for other calls is dropped here. What waits for its answer
// may be nil.
func (u *Upstream) raiseLogLevel(want logThreshold, l *pendingLogLevel, out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.logsLessLocked(want) {
		return
	}
	u.logLevels.raised = want
	u.levelLocked(fmt.Appendf(nil, `{"level":%q}`, mcpwire.LevelName(int(want-1))), l, out)
}

// logged passes a log message on. It does not say whose call it belongs to: while
// several clients share the server, one gets it when no other has an open call there.
func (u *Upstream) logged(m *jsonrpc.Message, out *peer.Outgoing) {
	if owner := u.owner(); owner != nil && !u.private.many {
		owner.Notify(u, m, out)
		return
	}
	var open []call
	u.pending.calls.Each(func(_ uint64, c call) {
		if c.caller != nil {
			open = append(open, c)
		}
	})
	if len(open) == 1 {
		open[0].caller.Logged(open[0], m, out)
	}
}

// Logged implements Caller. The client gets the message if its call wants to hear of that level.
func (s *Session) Logged(c call, m *jsonrpc.Message, out *peer.Outgoing) {
	level, err := m.Param("level")
	if err == nil && s.wants(&c, logThresholdOf(m.Text(level))) {
		s.pass(out, m, &tracing.Note{Method: mcpwire.LogMessage, During: c.id()})
	}
}

// wants reports whether the client of an open call wants to hear of a log message of this
// level.
func (s *Session) wants(c *call, got logThreshold) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := c.logs
	if !c.modern {
		want = logThresholdOf([]byte(s.logLevel.name))
	}
	return currentLocked(c) && want != 0 && want <= got
}

// logged passes a log message of a server of the session's own on. Modern clients get those of a legacy server only
// while a request is open that asked for them: nothing says to which one they belong
// (2026-07-28, Logging).
func (s *Session) logged(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	if !u.source.Modern && !s.inSession() && !s.logsFor(u, m) {
		return
	}
	s.pass(out, m, &tracing.Note{Method: mcpwire.LogMessage, During: s.openAt(u)})
}

// logsFor reports whether a modern request is open that wants to hear of a message.
func (s *Session) logsFor(u *Upstream, m *jsonrpc.Message) (wanted bool) {
	level, err := m.Param("level")
	if err != nil {
		return false
	}
	got := logThresholdOf(m.Text(level))
	s.mu.Lock()
	defer s.mu.Unlock()
	u.pending.calls.Each(func(_ uint64, c call) {
		wanted = wanted || c.caller == Caller(s) && currentLocked(&c) && c.logs != 0 && c.logs <= got
	})
	return wanted
}
