package mcpwire

import (
	"strconv"

	"toolman/jsonrpc"
)

// A Remedy is what a gateway does about an error of an upstream before the client
// gets it.
type Remedy uint8

// The remedies.
const (
	// PassOn: the response goes on as it came, but for the edits.
	PassOn Remedy = iota
	// AskUser: the user has to visit a URL first. Ask with what URLAsks returns; if it
	// cannot be asked, refuse with MissingCapability.
	AskUser
	// Explain: a model should read what is wrong, but its client would not show it.
	// Answer with AppendFailure and ErrorText.
	Explain
	// Reconsider: the server does not speak the revision that it was taken for. Find
	// out again which, and answer with CodeInternalError.
	Reconsider
)

// Bounds of the error codes that the modern era reserves (2026-07-28, Error Codes).
const firstReserved, lastReserved = -32099, -32020

// Edits of the code.
var (
	codeInvalidParams = []byte("-32602")
	codeInternal      = []byte("-32603")
)

// JudgeError says what to do about the error that an upstream of one era has answered
// to a call of method by a client of another or the same, and appends the edits that
// PassOn needs. An error says that the response has two codes.
func JudgeError(edits []jsonrpc.Edit, m *jsonrpc.Message, method Method, upstream, client Era) ([]jsonrpc.Edit, Remedy, error) {
	at, code, err := errorCode(m)
	if err != nil || code == 0 {
		return edits, PassOn, err
	}
	if upstream == Modern {
		return edits, judgeModern(code, method, client), nil
	}
	if client == Modern {
		if code == CodeMissingCapability && namesCapabilities(m) {
			return edits, PassOn, nil
		}
		return judgeLegacy(edits, at, code, method)
	}
	return edits, PassOn, nil
}

// errorCode returns where the code of an error response is, and the code; 0 when it has none that
// means anything. An error says that it has two.
func errorCode(m *jsonrpc.Message) (at jsonrpc.Span, code int64, err error) {
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

// namesCapabilities reports whether an error has the data that goes with a missing
// capability: servers of both eras have it in the legacy one, too, and it is as true there.
func namesCapabilities(m *jsonrpc.Message) bool {
	data, err := m.Get(m.Err, "data")
	if err != nil {
		return false
	}
	at, err := m.Get(data, "requiredCapabilities")
	return err == nil && m.IsObject(at)
}

func judgeModern(code int64, method Method, client Era) Remedy {
	switch {
	case code == CodeUnsupportedVersion:
		return Reconsider
	case code == CodeMissingCapability && client == Legacy && method == ToolsCall:
		return Explain
	}
	return PassOn
}

// judgeLegacy keeps codes from a modern client that would tell it something else.
func judgeLegacy(edits []jsonrpc.Edit, at jsonrpc.Span, code int64, method Method) ([]jsonrpc.Edit, Remedy, error) {
	switch {
	case code == CodeURLElicitation && TakesInput(method):
		return edits, AskUser, nil
	case code == CodeResourceNotFound:
		return append(edits, jsonrpc.Edit{Span: at, New: codeInvalidParams}), PassOn, nil
	case firstReserved <= code && code <= lastReserved:
		return append(edits, jsonrpc.Edit{Span: at, New: codeInternal}), PassOn, nil
	}
	return edits, PassOn, nil
}

// TakesInput reports whether a modern server may answer a request of this method
// with input_required (2026-07-28, Multi Round-Trip Requests).
func TakesInput(method Method) bool {
	return method == ToolsCall || method == PromptsGet || method == ResourcesRead
}

// ErrorText returns the message of an error response, and the client capabilities
// that it says are missing, if it does. Both come from the server.
func ErrorText(m *jsonrpc.Message) (message string, required []string) {
	if at, err := m.Get(m.Err, "message"); err == nil {
		message = string(m.Text(at))
	}
	data, err := m.Get(m.Err, "data")
	if err != nil {
		return message, nil
	}
	at, err := m.Get(data, "requiredCapabilities")
	if err != nil {
		return message, nil
	}
	for name := range jsonrpc.Members(m.Frame, at) {
		if len(required) == maxInputRequests {
			break
		}
		required = append(required, name)
	}
	return message, required
}
