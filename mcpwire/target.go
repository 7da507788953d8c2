package mcpwire

import "toolman/jsonrpc"

// Target returns the member of a request's params that names what it is about,
// and the kind of thing it names. The span is absent when params has no such
// string.
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

// reference reads the ref of completion/complete: a prompt or a resource
// template.
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
	if !m.IsString(at) {
		at = jsonrpc.Span{}
	}
	return at, err
}

func stringMember(m *jsonrpc.Message, obj jsonrpc.Span, key string) (jsonrpc.Span, error) {
	at, err := m.Get(obj, key)
	if !m.IsString(at) {
		at = jsonrpc.Span{}
	}
	return at, err
}

// ProgressToken returns params._meta.progressToken of a request, when it is
// there and is a string or a number.
func ProgressToken(m *jsonrpc.Message) (jsonrpc.Span, error) {
	meta, err := m.Param("_meta")
	if err != nil || !m.IsObject(meta) {
		return jsonrpc.Span{}, err
	}
	at, err := m.Get(meta, "progressToken")
	if err != nil || !isID(m, at) {
		return jsonrpc.Span{}, err
	}
	return at, nil
}

// isID reports whether the value is a string or a number, as ids and progress
// tokens are.
func isID(m *jsonrpc.Message, at jsonrpc.Span) bool {
	if !at.Present() {
		return false
	}
	c := m.Frame[at.Lo]
	return c == '"' || c == '-' || '0' <= c && c <= '9'
}

// IDParam returns a member of a notification's params that holds a request id or
// a progress token, when it is there and well formed.
func IDParam(m *jsonrpc.Message, key string) (jsonrpc.Span, error) {
	at, err := m.Param(key)
	if err != nil || !isID(m, at) {
		return jsonrpc.Span{}, err
	}
	return at, nil
}
