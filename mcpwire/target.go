package mcpwire

import "toolman/jsonrpc"

// Target returns the member of a request's params that names its target, and the kind of that. The
// span is absent if params has no such string.
func Target(m *jsonrpc.Message, method Method) (jsonrpc.Span, Kind, error) {
	switch method {
	case ToolsCall:
		at, err := stringParam(m, "name")
		return at, Tool, err
	case PromptsGet:
		at, err := stringParam(m, "name")
		return at, Prompt, err
	case ResourcesRead, Subscribe, Unsubscribe:
		at, err := stringParam(m, "uri")
		return at, Resource, err
	case Complete:
		return reference(m)
	}
	return jsonrpc.Span{}, 0, nil
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

// Keys of members that findMember finds.
var (
	serverInfoKey   = []string{KeyServerInfo}
	subscriptionKey = []string{KeySubscription}
	tasksKey        = []string{ExtensionTasks}
)

// findMember returns a member of an object with its key, the only one of key: a slice of a
// parameter would be allocated.
func findMember(m *jsonrpc.Message, obj jsonrpc.Span, key []string) (jsonrpc.Member, error) {
	var found [1]jsonrpc.Member
	err := m.Find(obj, key, found[:])
	return found[0], err
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
	if !valid {
		return jsonrpc.Span{}
	}
	return at
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

// TaskID returns params.taskId; it is absent if that is no string.
func TaskID(m *jsonrpc.Message) (jsonrpc.Span, error) { return stringParam(m, "taskId") }

// ExtensionTasks is the extension that brings tasks to the modern era.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// HideTasks appends edits that hide from a server that a modern client, whose request has the
// envelope e, supports tasks: servers must not create any, as toolman does not pass them on.
func HideTasks(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) ([]jsonrpc.Edit, error) {
	extensions, err := m.Get(e.Capabilities.Value, "extensions")
	if err != nil {
		return edits, err
	}
	tasks, err := findMember(m, extensions, tasksKey)
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
