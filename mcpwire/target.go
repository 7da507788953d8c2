package mcpwire

import "toolman/jsonrpc"

// Target returns the member of a request's params that names its target, and the kind of the
// target. The span is absent if params has no such string.
func Target(m *jsonrpc.Message, method Method) (jsonrpc.Span, Kind, error) {
	kind, key := Tool, "name"
	switch method {
	case ToolsCall:
	case PromptsGet:
		kind = Prompt
	case ResourcesRead, Subscribe, Unsubscribe:
		kind, key = Resource, "uri"
	case Complete:
		return reference(m)
	default:
		return jsonrpc.Span{}, 0, nil
	}
	at, err := stringParam(m, key)
	return at, kind, err
}

// reference reads the ref of completion/complete: a prompt or a resource template.
func reference(m *jsonrpc.Message) (jsonrpc.Span, Kind, error) {
	ref, err := m.Param("ref")
	if err != nil {
		return jsonrpc.Span{}, 0, err
	}
	kind, err := m.Get(ref, "type")
	if err != nil {
		return jsonrpc.Span{}, 0, err
	}
	switch string(m.Text(kind)) {
	case "ref/prompt":
		at, err := stringMember(m, ref, "name")
		return at, Prompt, err
	case "ref/resource":
		at, err := stringMember(m, ref, "uri")
		return at, Template, err
	}
	return jsonrpc.Span{}, 0, nil
}

func stringParam(m *jsonrpc.Message, key string) (jsonrpc.Span, error) {
	at, err := m.Param(key)
	return onlyIf(m.IsString(at), at), err
}

func stringMember(m *jsonrpc.Message, obj jsonrpc.Span, key string) (jsonrpc.Span, error) {
	at, err := m.Get(obj, key)
	return onlyIf(m.IsString(at), at), err
}

// ProgressToken returns params._meta.progressToken of a request if it is a string or a number.
func ProgressToken(m *jsonrpc.Message) (jsonrpc.Span, error) {
	meta, err := m.Param("_meta")
	if err != nil {
		return jsonrpc.Span{}, err
	}
	at, err := m.Get(meta, "progressToken")
	return onlyIf(m.IsID(at), at), err
}

// IDParam returns a member of a notification's params that holds a request ID or a progress token,
// if it is well formed.
func IDParam(m *jsonrpc.Message, key string) (jsonrpc.Span, error) {
	at, err := m.Param(key)
	return onlyIf(m.IsID(at), at), err
}

func onlyIf(valid bool, at jsonrpc.Span) jsonrpc.Span {
	if valid {
		return at
	}
	return jsonrpc.Span{}
}

// AsksForTask reports whether a request wants a task instead of its result (2025-11-25, Tasks:
// params.task).
func AsksForTask(m *jsonrpc.Message) bool {
	at, err := m.Param("task")
	return err == nil && m.IsObject(at)
}

// CreatedTask returns the ID of the task that a response says was created, or nil.
func CreatedTask(m *jsonrpc.Message) []byte {
	task, err := m.Get(m.Result, "task")
	if err != nil {
		return nil
	}
	id, _ := stringMember(m, task, "taskId")
	return m.Text(id)
}

// TaskID returns params.taskId. It is absent if it is not a string.
func TaskID(m *jsonrpc.Message) (jsonrpc.Span, error) { return stringParam(m, "taskId") }

// extensionTasks is the extension that adds tasks to the modern era.
const extensionTasks = "io.modelcontextprotocol/tasks"

// HideTasks appends edits that hide from a server that a modern client supports tasks. Servers must
// not create any, because toolman does not pass them on. e is the envelope of the request.
func HideTasks(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) ([]jsonrpc.Edit, error) {
	extensions, err := m.Get(e.Capabilities.Value, "extensions")
	if err != nil {
		return edits, err
	}
	tasks, err := m.GetMember(extensions, extensionTasks)
	if err != nil {
		return edits, err
	}
	return jsonrpc.AppendRemoval(edits, m.Frame, extensions, tasks), nil
}

// MemberOf returns where a member of an object is, in a message that has the object as its frame.
func MemberOf(object []byte, key string) (m jsonrpc.Message, at jsonrpc.Span, err error) {
	m.Frame = object
	at, err = m.Get(jsonrpc.Span{Hi: len(object)}, key)
	return m, at, err
}

// ObjectIn returns a member of an object that is an object itself, or nil.
func ObjectIn(object []byte, key string) []byte {
	m, at, err := MemberOf(object, key)
	if err != nil || !m.IsObject(at) {
		return nil
	}
	return m.Bytes(at)
}
