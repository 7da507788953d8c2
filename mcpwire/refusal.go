package mcpwire

import (
	"encoding/json"

	"toolman/jsonrpc"
)

// Error codes of MCP's own (2026-07-28, Error Codes), and older ones that servers
// of the legacy era still use.
const (
	CodeUnsupportedVersion = -32022
	CodeMissingCapability  = -32021
	CodeHeaderMismatch     = -32020
	CodeResourceNotFound   = -32002 // legacy: -32602 in the modern era
	CodeURLElicitation     = -32042 // 2025-11-25 only
)

// A Refusal is an error response of toolman's own to a modern client, whatever the
// method: where the specification prescribes one, no tool result may stand in for
// it.
type Refusal struct {
	Code    int64
	Message string
	Data    json.RawMessage // nil: the outcome that toolman's errors carry
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// Append appends the response to the request with this id, a JSON token.
func (r *Refusal) Append(dst, id []byte) []byte {
	data := r.Data
	if data == nil {
		data = appendOutcome(nil, "", r.Message, "")
	}
	return jsonrpc.AppendError(dst, id, r.Code, r.Message, data)
}

func invalid(message string) *Refusal {
	return &Refusal{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// unsupported refuses a revision that toolman does not speak. What was asked for
// may be long.
func unsupported(asked []byte) *Refusal {
	const limit = 64
	data := appendModern([]byte(`{"supported":`))
	data = append(data, `,"requested":`...)
	data = jsonrpc.AppendQuoted(data, asked[:min(len(asked), limit)])
	return &Refusal{CodeUnsupportedVersion, "Unsupported protocol version", append(data, '}')}
}

// MissingCapability refuses a request that the client's capabilities do not allow
// to be served: required is the object that it would have to declare, such as
// {"sampling":{}}, and why says what for.
func MissingCapability(required, why string) *Refusal {
	return &Refusal{CodeMissingCapability, why, json.RawMessage(`{"requiredCapabilities":` + required + `}`)}
}
