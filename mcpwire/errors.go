package mcpwire

import (
	"strconv"

	"toolman/jsonrpc"
)

// A Remedy is what a gateway does with a server's error before the client gets it.
type Remedy uint8

// The remedies.
const (
	// PassOn: the response is passed on with the edits.
	PassOn Remedy = iota
	// AskUser: the user has to visit a URL first. Ask with what URLAsks returns; if the client
	// cannot be asked, refuse with MissingCapability.
	AskUser
	// Explain: the model should read the error, but its client would not show it. Answer with
	// AppendFailure and ErrorText.
	Explain
	// Reconsider: the server does not speak the revision of the request. Find out which one it
	// speaks, and answer with CodeInternalError.
	Reconsider
)

// maxNamed is the largest number of capabilities that ErrorText returns.
const maxNamed = 16

// Bounds of the error codes that the modern era reserves (2026-07-28, Error Codes).
const firstReserved, lastReserved = -32099, -32020

// Edits of a code.
var (
	codeInvalidParams = []byte("-32602")
	codeInternal      = []byte("-32603")
)

// JudgeError returns what to do with the error response of a server to a call of method by a
// client, and appends the edits that PassOn needs: a modern client must not get codes that have
// another meaning in its era. It fails if the response has two codes.
func JudgeError(edits []jsonrpc.Edit, m *jsonrpc.Message, method Method, server, client Era) ([]jsonrpc.Edit, Remedy, error) {
	at, code, err := ErrorCode(m)
	if err != nil {
		return edits, PassOn, err
	}
	fromModern, toModern := server == Modern, client == Modern
	switch {
	case fromModern && code == CodeUnsupportedVersion:
		return edits, Reconsider, nil
	case fromModern && code == CodeMissingCapability && client == Legacy && method == ToolsCall:
		return edits, Explain, nil
	case fromModern || !toModern || code == 0:
	case code == CodeMissingCapability && m.IsObject(requiredCapabilities(m)):
	case code == CodeURLElicitation && TakesInput(method):
		return edits, AskUser, nil
	case code == CodeResourceNotFound:
		edits = append(edits, jsonrpc.Edit{Span: at, New: codeInvalidParams})
	case firstReserved <= code && code <= lastReserved:
		edits = append(edits, jsonrpc.Edit{Span: at, New: codeInternal})
	}
	return edits, PassOn, nil
}

// ErrorCode returns the code of an error response and its place. The code is 0 if the response has
// no usable one. ErrorCode fails if it has two.
func ErrorCode(m *jsonrpc.Message) (at jsonrpc.Span, code int64, err error) {
	at, err = m.Get(m.Err, "code")
	if err != nil {
		return at, 0, err
	}
	number, err := strconv.ParseFloat(string(m.Bytes(at)), 64) // -32042.0 is the same number to a client
	if code = int64(number); err != nil || float64(code) != number {
		return at, 0, nil
	}
	return at, code, nil
}

// requiredCapabilities returns the data of the error for a missing capability. It is absent if
// there is none, or two. Servers of both eras send it with the code of the modern era.
func requiredCapabilities(m *jsonrpc.Message) jsonrpc.Span {
	data, _ := m.Get(m.Err, "data")
	required, _ := m.Get(data, "requiredCapabilities")
	return required
}

// TakesInput reports whether a modern server may answer a request of this method with
// input_required (2026-07-28, Multi Round-Trip Requests).
func TakesInput(method Method) bool {
	return method == ToolsCall || method == PromptsGet || method == ResourcesRead
}

// ErrorText returns the message of an error response, and the names of the client capabilities that
// it reports as missing. Both come from the server.
func ErrorText(m *jsonrpc.Message) (message string, required []string) {
	if at, err := m.Get(m.Err, "message"); err == nil {
		message = string(m.Text(at))
	}
	for name := range jsonrpc.Members(m.Frame, requiredCapabilities(m)) {
		if len(required) == maxNamed {
			break
		}
		required = append(required, name)
	}
	return message, required
}
