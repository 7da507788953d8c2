package mcpwire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"toolman/jsonrpc"
)

// Error codes of MCP (2026-07-28, Error Codes), and older ones that legacy servers still use.
const (
	CodeUnsupportedVersion = -32022
	CodeMissingCapability  = -32021
	CodeHeaderMismatch     = -32020
	CodeResourceNotFound   = -32002 // legacy: -32602 in the modern era
	CodeURLElicitation     = -32042 // 2025-11-25 only
)

// A Refusal is an error response of toolman to a modern client, for any method: if the
// specification prescribes an error, no tool result may replace it.
type Refusal struct {
	Code    int64
	Message string
	Data    json.RawMessage // nil: the outcome object that all errors of toolman have
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// Append appends the response to the request with this ID, a JSON token.
func (r *Refusal) Append(dst, id []byte) []byte {
	data := r.Data
	if data == nil {
		data = failureOutcome(r.Message)
	}
	return jsonrpc.AppendError(dst, id, r.Code, r.Message, data)
}

// Invalid returns a refusal of invalid params.
func Invalid(message string) *Refusal {
	return &Refusal{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// unsupported refuses a revision that toolman does not speak. It shows only the start of a long
// one.
func unsupported(asked []byte) *Refusal {
	data := fmt.Appendf(nil, `{"supported":%s,"requested":%s}`, modernRevisions(), quote(asked[:min(len(asked), maxRevision)]))
	return &Refusal{CodeUnsupportedVersion, "Unsupported protocol version", data}
}

// MissingCapability refuses a request that needs a capability that the client has not declared.
// required is the object that it would have to declare, such as {"sampling":{}}, and why is the
// message.
func MissingCapability(required, why string) *Refusal {
	return &Refusal{CodeMissingCapability, why, json.RawMessage(`{"requiredCapabilities":` + required + `}`)}
}

// failureOutcome returns the object that says why something failed. It has the form of the outcomes
// of toolman's own tools.
func failureOutcome(problem string) []byte {
	return fmt.Appendf(nil, `{"success":false,"result":null,"error":%s}`, quote(problem))
}

// AppendToolSuccess appends the result of one of toolman's own tools, for a client of an era. tools
// are definitions for structuredContent, as JSON. aloud puts them into a text as well, for clients
// that show only texts to the model.
func AppendToolSuccess(e Era, dst []byte, result string, tools [][]byte, aloud bool) []byte {
	return AppendToolOutcome(e, dst, fmt.Appendf(nil, `{"success":true,"result":%s,"error":null}`, quote(result)), tools, aloud)
}

// AppendToolOutcome is AppendToolSuccess with an outcome object of the tool's own.
func AppendToolOutcome(e Era, dst, outcome []byte, tools [][]byte, aloud bool) []byte {
	definitions, text := bytes.Join(tools, []byte(",")), ""
	if aloud && len(tools) > 0 {
		text = fmt.Sprintf(`,{"type":"text","text":%s}`, quote(definitions))
	}
	dst = fmt.Appendf(appendResultStart(dst, e), `"content":[{"type":"text","text":%s}%s],"structuredContent":`, quote(outcome), text)
	if len(tools) == 0 {
		return append(append(dst, outcome...), '}')
	}
	return fmt.Appendf(dst, `%s,"tools":[%s]}}`, outcome[:len(outcome)-1], definitions)
}

// AppendToolFailure appends the result of one of toolman's own tools that failed.
func AppendToolFailure(e Era, dst, outcome []byte) []byte {
	return fmt.Appendf(appendResultStart(dst, e), `"content":[{"type":"text","text":%s}],"structuredContent":%s,"isError":true}`, quote(outcome), outcome)
}

// AppendFailure appends the response to a request that toolman refuses, or answers in place of a
// server. The response to a tool call is a tool result, because models read those. Other requests
// get a JSON-RPC error.
func AppendFailure(e Era, dst, id []byte, method Method, code int64, problem string) []byte {
	outcome := failureOutcome(problem)
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
