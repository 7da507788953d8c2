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
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Tasks (2025-11-25) pass through as they are: their ids are not rewritten, but
// remembered with the upstream they belong to.

// maxTasks is how many tasks of a session are remembered on either side, and maxTaskID how long their
// IDs are, in bytes. No message says that a task is not needed any more, so the oldest are
// forgotten.
const maxTasks, maxTaskID = 1000, 256

// tasks says which upstream a task belongs to. The first to use an id has it.
type tasks struct {
	boundedMap[string, *upstream.Upstream]
}

func (t *tasks) add(id []byte, u *upstream.Upstream) {
	if len(id) <= maxTaskID {
		t.boundedMap.add(string(id), u, maxTasks)
	}
}

func (t *tasks) of(id []byte) *upstream.Upstream { return t.get(string(id)) }

// routeTaskLocked passes on what the client asks about a task of a server.
func (s *Session) routeTaskLocked(req *client.Request) {
	at, err := mcpwire.TaskID(req.Message)
	if err != nil || !at.Present() {
		s.Refuse(req, client.BadTarget(req.Method, err))
		return
	}
	u := s.tasks.upstream.of(req.Text(at))
	if u == nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Verdict: catalog.Unknown.String(),
			Text: "unknown task " + sanitize.Short(string(req.Text(at))) + fmt.Sprintf("; it was not made over this connection, is older than the last %d, or its ID is longer than %d bytes", maxTasks, maxTaskID)})
		return
	}
	s.forward(req, at, catalog.Target{Source: u.Source})
}

// learnTask remembers the task that a server made for a call, and its progress
// token, which stays in use (2025-11-25, Tasks).
func (s *Session) learnTask(u *upstream.Upstream, id uint64, c *upstream.Call, m *jsonrpc.Message) {
	task := mcpwire.CreatedTask(m)
	if task == nil {
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.tasks.upstream.add(task, u)
	if len(c.Token()) > 0 {
		s.tasks.tokens.add(taskToken{u, id}, bytes.Clone(c.Token()))
	}
}

// taskToken is the progress token under which a server knows a call that has
// become a task.
type taskToken struct {
	from *upstream.Upstream
	id   uint64
}

// tokens are the client's progress tokens of calls that have become tasks.
type tokens struct{ boundedMap[taskToken, []byte] }

func (t *tokens) add(key taskToken, token []byte) { t.boundedMap.add(key, token, maxTasks) }

// taskStatus passes on how a server's task is. It may come before the answer that
// names the task; only that answer says whose the task is, and so a server cannot
// take ids, or room, that others need.
func (s *Session) taskStatus(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.TaskID(m)
	if err != nil || !at.Present() {
		return
	}
	s.Mu.Lock()
	owner := s.tasks.upstream.of(m.Text(at))
	s.Mu.Unlock()
	if owner == u || owner == nil && u.Owner() == upstream.Caller(s) && s.knows(u) {
		s.Pass(out, m, &tracing.Note{Method: mcpwire.TaskStatus})
	}
}

// tellTaskLocked passes on how a task of the client's is, to the server it works
// for.
func (s *Session) tellTaskLocked(m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.TaskID(m)
	if err != nil || !at.Present() {
		return
	}
	if u := s.tasks.client.of(m.Text(at)); u != nil {
		u.Tell(m, out)
	}
}

// foreignTaskLocked reports whether a server asks about a task that the client
// does not do for it.
func (s *Session) foreignTaskLocked(u *upstream.Upstream, m *jsonrpc.Message, method mcpwire.Method) bool {
	switch method {
	case mcpwire.TasksGet, mcpwire.TasksResult, mcpwire.TasksCancel:
		at, err := mcpwire.TaskID(m)
		return err != nil || !at.Present() || s.tasks.client.of(m.Text(at)) != u
	}
	return false
}

// TaskProgress implements Caller.
func (s *Session) TaskProgress(u *upstream.Upstream, id uint64, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) {
	s.Mu.Lock()
	token := s.tasks.tokens.get(taskToken{u, id})
	s.Mu.Unlock()
	if token != nil {
		out.Edit(at, token)
		s.Pass(out, m, &tracing.Note{Method: mcpwire.Progress})
	}
}
