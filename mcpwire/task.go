package mcpwire

import "toolman/jsonrpc"

// AsksForTask reports whether a request wants a task instead of its result
// (2025-11-25, Tasks: params.task).
func AsksForTask(m *jsonrpc.Message) bool {
	at, err := m.Param("task")
	return err == nil && m.IsObject(at)
}

// CreatedTask returns the id of the task that a response says was made, or nil.
func CreatedTask(m *jsonrpc.Message) []byte {
	task, err := m.Get(m.Result, "task")
	if err != nil {
		return nil
	}
	id, err := stringMember(m, task, "taskId")
	if err != nil {
		return nil
	}
	return m.Text(id)
}

// TaskID returns params.taskId; it is absent when that is no string.
func TaskID(m *jsonrpc.Message) (jsonrpc.Span, error) { return stringParam(m, "taskId") }

// ExtensionTasks is the extension that brings tasks to the modern era.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// HideTasks appends edits that keep from a server that a modern client, whose
// request has the envelope e, knows tasks: a gateway that does not pass them on must not
// let servers make any.
func HideTasks(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) ([]jsonrpc.Edit, error) {
	extensions, err := m.Get(e.Capabilities.Value, "extensions")
	if err != nil {
		return edits, err
	}
	var found [1]jsonrpc.Member
	keys := [...]string{ExtensionTasks}
	if err := m.Find(extensions, keys[:], found[:]); err != nil {
		return edits, err
	}
	return jsonrpc.AppendRemoval(edits, m.Frame, extensions, found[0]), nil
}
