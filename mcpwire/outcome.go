package mcpwire

import (
	"bytes"

	"toolman/jsonrpc"
)

// appendOutcome appends the object in which toolman says how something of its
// own went: a success flag, a result and an actionable message. more is a list of
// further members, each with a comma before it, or empty.
func appendOutcome(dst []byte, result, problem, more string) []byte {
	if problem == "" {
		dst = append(dst, `{"success":true,"result":`...)
		dst = jsonrpc.AppendQuoted(dst, result)
		dst = append(dst, `,"error":null`...)
	} else {
		dst = append(dst, `{"success":false,"result":null,"error":`...)
		dst = jsonrpc.AppendQuoted(dst, problem)
	}
	dst = append(dst, more...)
	return append(dst, '}')
}

// AppendToolSuccess appends the result of a tool of toolman's own, for a client of an
// era. tools are definitions to hand over in structuredContent, as JSON; aloud puts
// them into a text as well, for clients that show a model nothing else.
func AppendToolSuccess(e Era, dst []byte, result string, tools [][]byte, aloud bool) []byte {
	return AppendToolOutcome(e, dst, appendOutcome(nil, result, "", ""), tools, aloud)
}

// AppendToolOutcome is AppendToolSuccess for a tool that says in an object of its own
// how it went.
func AppendToolOutcome(e Era, dst, outcome []byte, tools [][]byte, aloud bool) []byte {
	definitions := bytes.Join(tools, []byte(","))
	dst = append(appendResultStart(dst, e), `"content":[{"type":"text","text":`...)
	dst = jsonrpc.AppendQuoted(dst, outcome)
	if aloud && len(tools) > 0 {
		dst = append(dst, `},{"type":"text","text":"`...)
		dst = jsonrpc.AppendEscaped(dst, definitions)
		dst = append(dst, '"')
	}
	dst = append(dst, `}],"structuredContent":`...)
	if len(tools) > 0 {
		dst = append(append(dst, outcome[:len(outcome)-1]...), `,"tools":[`...)
		return append(append(dst, definitions...), `]}}`...)
	}
	return append(append(dst, outcome...), '}')
}

// AppendToolFailure appends the result of a tool that says in an object of its own why
// it could not do what it was called for.
func AppendToolFailure(e Era, dst, outcome []byte) []byte {
	dst = append(appendResultStart(dst, e), `"content":[{"type":"text","text":`...)
	dst = jsonrpc.AppendQuoted(dst, outcome)
	dst = append(dst, `}],"structuredContent":`...)
	dst = append(dst, outcome...)
	return append(dst, `,"isError":true}`...)
}

// AppendFailure appends the answer to a request that toolman itself refuses, or
// has to answer in an upstream's place. A model reads the results of its tool
// calls, so those get a tool result; other requests get a JSON-RPC error.
func AppendFailure(dst, id []byte, method Method, code int64, problem string) []byte {
	return AppendFailureFor(Legacy, dst, id, method, code, problem)
}

// AppendFailureFor is AppendFailure for a client of an era.
func AppendFailureFor(e Era, dst, id []byte, method Method, code int64, problem string) []byte {
	outcome := appendOutcome(nil, "", problem, "")
	if method != ToolsCall {
		return jsonrpc.AppendError(dst, id, code, problem, outcome)
	}
	return jsonrpc.AppendResult(dst, id, AppendToolFailure(e, nil, outcome))
}

// appendResultStart appends the start of a tool's result.
func appendResultStart(dst []byte, e Era) []byte {
	dst = append(dst, '{')
	if e == Modern {
		dst = AppendComplete(dst, ToolsCall)
	}
	return dst
}
