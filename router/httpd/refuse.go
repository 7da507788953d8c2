package httpd

import (
	"encoding/json"
	"net/http"
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// Error codes of the endpoint's own answers. That for a session that is not there is
// the SDKs' (their servers answer -32001 with the 404 that the specification asks for).
const (
	codeInvalidRequest = jsonrpc.CodeInvalidRequest
	codeInternal       = jsonrpc.CodeInternalError
	codeNoSession      = -32001
)

// refuse answers a request of HTTP with a JSON-RPC error. A nil id, of a message that
// was not read or has none, is left out: MCP's own schema has no null there.
func refuse(w http.ResponseWriter, status int, id []byte, code int64, why string) {
	answer(w, status, appendRefusal(nil, id, code, why, nil))
}

// refuseWith is refuse for an error that the specification prescribes for this request
// of the modern era.
func refuseWith(w http.ResponseWriter, status int, id []byte, r *mcpwire.Refusal) {
	answer(w, status, appendRefusal(nil, id, r.Code, r.Message, r.Data))
}

func appendRefusal(dst, id []byte, code int64, why string, data json.RawMessage) []byte {
	if id != nil {
		return jsonrpc.AppendError(dst, id, code, why, data)
	}
	dst = append(dst, `{"jsonrpc":"2.0","error":{"code":`...)
	dst = strconv.AppendInt(dst, code, 10)
	dst = append(dst, `,"message":`...)
	return append(jsonrpc.AppendQuoted(dst, why), "}}"...)
}

// answer writes a whole response of JSON.
func answer(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body) // fails only when the client is gone
}
