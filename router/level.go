package router

import (
	"bytes"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// setLevelLocked keeps the level for servers that are still starting, passes it on to
// the others, and says it to modern ones with each request from now on.
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

// Logged implements Caller. The client gets the message if its call wants to hear of that level.
func (s *Session) Logged(c upstream.Call, m *jsonrpc.Message, out *peer.Outgoing) {
	level, err := m.Param("level")
	if err == nil && s.wants(&c, upstream.ThresholdOf(m.Text(level))) {
		s.Pass(out, m, &tracing.Note{Method: mcpwire.LogMessage, During: c.ID()})
	}
}

// wants reports whether the client of an open call wants to hear of a log message of this
// level.
func (s *Session) wants(c *upstream.Call, got upstream.LogThreshold) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	want := c.Logs
	if !c.Modern {
		want = upstream.ThresholdOf([]byte(s.logLevel.name))
	}
	return input.Current(c) && want != 0 && want <= got
}

// logged passes a log message of a server of the session's own on. Modern clients get those of a legacy server only
// while a request is open that asked for them: nothing says to which one they belong
// (2026-07-28, Logging).
func (s *Session) logged(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	if !u.Source.Modern && !s.InSession() && !s.logsFor(u, m) {
		return
	}
	s.Pass(out, m, &tracing.Note{Method: mcpwire.LogMessage, During: s.input.OpenAt(u)})
}

// logsFor reports whether a modern request is open that wants to hear of a message.
func (s *Session) logsFor(u *upstream.Upstream, m *jsonrpc.Message) (wanted bool) {
	level, err := m.Param("level")
	if err != nil {
		return false
	}
	got := upstream.ThresholdOf(m.Text(level))
	s.Mu.Lock()
	defer s.Mu.Unlock()
	u.EachCall(func(_ uint64, c upstream.Call) {
		wanted = wanted || s.made(&c) && input.Current(&c) && c.Logs != 0 && c.Logs <= got
	})
	return wanted
}
