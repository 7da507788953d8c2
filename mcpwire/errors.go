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
	// Explain: a model should read the error, but its client would not show it. Answer with
	// AppendFailure and ErrorText.
	Explain
	// Reconsider: the server does not speak the revision that it was taken for. Find out which it
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

// JudgeError says what to do with the error that a server of one era has answered to a call of
// method by a client of another or the same era, and appends the edits that PassOn needs: a modern
// client must not get codes that mean something else to it. An error says that the response has two
// codes.
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
	case code == CodeMissingCapability && namesCapabilities(m):
	case code == CodeURLElicitation && TakesInput(method):
		return edits, AskUser, nil
	case code == CodeResourceNotFound:
		edits = append(edits, jsonrpc.Edit{Span: at, New: codeInvalidParams})
	case firstReserved <= code && code <= lastReserved:
		edits = append(edits, jsonrpc.Edit{Span: at, New: codeInternal})
	}
	return edits, PassOn, nil
}

// ErrorCode returns the code of an error response and where it is; 0 if the response has none that
// means anything. An error says that it has two.
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

// requiredCapabilities returns the data that goes with the error of a missing capability. Servers
// of both eras send it with the code of the modern era.
func requiredCapabilities(m *jsonrpc.Message) (jsonrpc.Span, error) {
	data, err := m.Get(m.Err, "data")
	if err != nil {
		return jsonrpc.Span{}, err
	}
	return m.Get(data, "requiredCapabilities")
}

func namesCapabilities(m *jsonrpc.Message) bool {
	at, err := requiredCapabilities(m)
	return err == nil && m.IsObject(at)
}

// TakesInput reports whether a modern server may answer a request of this method with
// input_required (2026-07-28, Multi Round-Trip Requests).
func TakesInput(method Method) bool {
	return method == ToolsCall || method == PromptsGet || method == ResourcesRead
}

// ErrorText returns the message of an error response, and the client capabilities that it says are
// missing, if it does. Both come from the server.
func ErrorText(m *jsonrpc.Message) (message string, required []string) {
	if at, err := m.Get(m.Err, "message"); err == nil {
		message = string(m.Text(at))
	}
	at, err := requiredCapabilities(m)
	if err != nil {
		return message, nil
	}
	for name := range jsonrpc.Members(m.Frame, at) {
		if len(required) == maxNamed {
			break
		}
		required = append(required, name)
	}
	return message, required
}
