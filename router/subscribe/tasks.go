package subscribe

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/calls"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// MaxTasks limits the tasks that a session remembers per side. MaxTaskID is the maximum length of a
// task ID in bytes. No message says that a task is no longer needed, so the oldest are dropped.
const MaxTasks, MaxTaskID = 1000, 256

// Tasks are the tasks of the client and the servers (2025-11-25). Their IDs are forwarded
// unchanged. Conn.Mu guards them.
type Tasks struct {
	*client.Conn
	servers tasks  // executed by servers
	tokens  tokens // the client's progress tokens for servers
	clients tasks  // executed by the client
}

// LearnServerTask stores the task that a server has created for a call, if the answer contains one.
// It also stores the call's progress token, which remains valid for the task (2025-11-25, Tasks).
func (s *Tasks) LearnServerTask(u *upstream.Upstream, id uint64, c *calls.Call, m *jsonrpc.Message) {
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

// OfServer returns the upstream server that executes the task with this ID, or nil.
func (s *Tasks) OfServer(id []byte) *upstream.Upstream { return s.servers.of(id) }

// Status forwards the status of a server's task. The status may arrive before the answer that
// creates the task. Only that answer assigns the ID to the server, so that a server cannot occupy
// IDs or space that others need.
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

// Progress forwards the progress of a call that has become a task.
func (s *Tasks) Progress(u *upstream.Upstream, id uint64, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) {
	s.Mu.Lock()
	token := s.tokens.get(taskToken{u, id})
	s.Mu.Unlock()
	if token != nil {
		out.Edit(at, token)
		s.Pass(out, m, &tracing.Note{Method: mcpwire.Progress})
	}
}

// LearnClientTask stores the task that the client has created for a server, if its answer contains
// one.
func (s *Tasks) LearnClientTask(m *jsonrpc.Message, from *upstream.Upstream) {
	if task := mcpwire.CreatedTask(m); task != nil {
		s.clients.add(task, from)
	}
}

// IsForeign reports whether a server's request is about a task that the client does not execute for
// that server.
func (s *Tasks) IsForeign(u *upstream.Upstream, m *jsonrpc.Message, method mcpwire.Method) bool {
	switch method {
	case mcpwire.TasksGet, mcpwire.TasksResult, mcpwire.TasksCancel:
		at, err := mcpwire.TaskID(m)
		return err != nil || !at.Present() || s.clients.of(m.Text(at)) != u
	}
	return false
}

// Notify forwards the status of a task of the client to the server that requested it.
func (s *Tasks) Notify(m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.TaskID(m)
	if err != nil || !at.Present() {
		return
	}
	if u := s.clients.of(m.Text(at)); u != nil {
		u.ForwardNotification(m, out)
	}
}

// Len returns the number of stored server tasks and their progress tokens.
func (s *Tasks) Len() int { return len(s.servers.all) + len(s.tokens.all) }

// tasks maps task IDs to upstream servers. An ID belongs to the first server that uses it.
type tasks struct {
	boundedMap[string, *upstream.Upstream]
}

func (t *tasks) add(id []byte, u *upstream.Upstream) {
	if len(id) <= MaxTaskID {
		t.boundedMap.add(string(id), u, MaxTasks)
	}
}

func (t *tasks) of(id []byte) *upstream.Upstream { return t.get(string(id)) }

// A taskToken identifies a call that has become a task by the server's progress token.
type taskToken struct {
	from *upstream.Upstream
	id   uint64
}

// tokens maps calls that have become tasks to the client's progress tokens.
type tokens struct{ boundedMap[taskToken, []byte] }

func (t *tokens) add(key taskToken, token []byte) { t.boundedMap.add(key, token, MaxTasks) }

// A boundedMap is a map that drops its oldest entries when it is full. The zero value is empty.
type boundedMap[K comparable, V any] struct {
	all  map[K]V
	keys []K // ring buffer, in order of insertion
	next int // index of the oldest key when the ring is full
}

// add stores v unless there is a value for the key.
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

// get returns the value for the key, or the zero value.
func (n *boundedMap[K, V]) get(key K) V { return n.all[key] }
