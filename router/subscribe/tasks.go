package subscribe

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Tasks (2025-11-25) pass through as they are: their ids are not rewritten, but
// remembered with the upstream they belong to.

// MaxTasks is how many tasks of a session are remembered on either side, and MaxTaskID how long their
// IDs are, in bytes. No message says that a task is not needed any more, so the oldest are
// forgotten.
const MaxTasks, MaxTaskID = 1000, 256

// tasks says which upstream a task belongs to. The first to use an id has it.
type tasks struct {
	boundedMap[string, *upstream.Upstream]
}

func (t *tasks) add(id []byte, u *upstream.Upstream) {
	if len(id) <= MaxTaskID {
		t.boundedMap.add(string(id), u, MaxTasks)
	}
}

func (t *tasks) of(id []byte) *upstream.Upstream { return t.get(string(id)) }

// Tasks are the tasks of both sides. They are guarded by Conn.Mu.
type Tasks struct {
	*client.Conn
	servers tasks  // that servers do for the client
	tokens  tokens // the client's progress tokens of those
	clients tasks  // that the client does for servers
}

// OfServer returns the upstream whose task has this ID; nil: none has.
func (s *Tasks) OfServer(id []byte) *upstream.Upstream { return s.servers.of(id) }

// LearnClientTask remembers the task that the client has made for an upstream, if its answer says so.
func (s *Tasks) LearnClientTask(m *jsonrpc.Message, from *upstream.Upstream) {
	if task := mcpwire.CreatedTask(m); task != nil {
		s.clients.add(task, from)
	}
}

// LearnServerTask remembers the task that a server made for a call, and its progress
// token, which stays in use (2025-11-25, Tasks).
func (s *Tasks) LearnServerTask(u *upstream.Upstream, id uint64, c *upstream.Call, m *jsonrpc.Message) {
	task := mcpwire.CreatedTask(m)
	if task == nil {
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.servers.add(task, u)
	if len(c.Token()) > 0 {
		s.tokens.add(taskToken{u, id}, bytes.Clone(c.Token()))
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

func (t *tokens) add(key taskToken, token []byte) { t.boundedMap.add(key, token, MaxTasks) }

// Status passes on how a server's task is. It may come before the answer that
// names the task; only that answer says whose the task is, and so a server cannot
// take ids, or room, that others need.
func (s *Tasks) Status(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.TaskID(m)
	if err != nil || !at.Present() {
		return
	}
	s.Mu.Lock()
	owner := s.servers.of(m.Text(at))
	s.Mu.Unlock()
	if owner == u || owner == nil && u.Owner() == s.Caller && s.Knows(u) {
		s.Pass(out, m, &tracing.Note{Method: mcpwire.TaskStatus})
	}
}

// Notify passes on how a task of the client's is, to the server it works
// for.
func (s *Tasks) Notify(m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.TaskID(m)
	if err != nil || !at.Present() {
		return
	}
	if u := s.clients.of(m.Text(at)); u != nil {
		u.Tell(m, out)
	}
}

// IsForeign reports whether a server asks about a task that the client
// does not do for it.
func (s *Tasks) IsForeign(u *upstream.Upstream, m *jsonrpc.Message, method mcpwire.Method) bool {
	switch method {
	case mcpwire.TasksGet, mcpwire.TasksResult, mcpwire.TasksCancel:
		at, err := mcpwire.TaskID(m)
		return err != nil || !at.Present() || s.clients.of(m.Text(at)) != u
	}
	return false
}

// Progress passes on progress of a call that has become a task.
func (s *Tasks) Progress(u *upstream.Upstream, id uint64, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) {
	s.Mu.Lock()
	token := s.tokens.get(taskToken{u, id})
	s.Mu.Unlock()
	if token != nil {
		out.Edit(at, token)
		s.Pass(out, m, &tracing.Note{Method: mcpwire.Progress})
	}
}

// Len is how many tasks and progress tokens of servers are remembered.
func (s *Tasks) Len() int { return len(s.servers.all) + len(s.tokens.all) }

// boundedMap remembers things by their keys, and forgets the oldest of them when they
// are too many. The zero value is empty.
type boundedMap[K comparable, V any] struct {
	all  map[K]V
	keys []K // in the order they came, in a ring
	next int // where the oldest is, once the ring is full
}

// add remembers v, unless there is something with the key already.
func (n *boundedMap[K, V]) add(key K, v V, most int) {
	if _, known := n.all[key]; known {
		return
	}
	if n.all == nil {
		n.all = map[K]V{}
	}
	n.all[key] = v
	if len(n.keys) < most {
		n.keys = append(n.keys, key)
		return
	}
	delete(n.all, n.keys[n.next])
	n.keys[n.next] = key
	n.next = (n.next + 1) % most
}

// get returns what has the key, or the zero value.
func (n *boundedMap[K, V]) get(key K) V { return n.all[key] }
