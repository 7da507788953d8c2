package httpd

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/budget"
	"toolman/router/httpd/presence"
)

// Error codes of the endpoint's own answers. The code of an unknown session is that of the SDKs:
// their servers send -32001 with the 404 that the specification requires.
const (
	codeInvalidRequest = jsonrpc.CodeInvalidRequest
	codeInternal       = jsonrpc.CodeInternalError
	codeNoSession      = -32001
)

// refuse answers with a JSON-RPC error. A nil id is left out: MCP's schema has no null there.
func (x *exchange) refuse(status int, id []byte, code int64, why string) {
	x.refuseWith(status, id, &mcpwire.Refusal{Code: code, Message: why})
}

// refuseWith is refuse for an error with data.
func (x *exchange) refuseWith(status int, id []byte, e *mcpwire.Refusal) {
	writeAnswer(x.w, status, appendError(id, e))
}

func appendError(id []byte, e *mcpwire.Refusal) []byte {
	text := jsonrpc.AppendError(nil, id, e.Code, e.Message, e.Data)
	if id == nil {
		text = bytes.Replace(text, []byte(`"id":null,`), nil, 1)
	}
	return text
}

// writeAnswer writes a JSON response.
func writeAnswer(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body) // fails only when the client is gone
}

// notAllowed answers a request of an HTTP method that is not supported.
func (x *exchange) notAllowed(allow, why string) {
	x.w.Header().Set("Allow", allow)
	x.refuse(http.StatusMethodNotAllowed, nil, codeInvalidRequest, why)
}

// reject answers a request that is not accepted because of a limit, the end of its session, or a
// wrong ID.
func (x *exchange) reject(id []byte, err error) {
	status, code := http.StatusBadRequest, int64(jsonrpc.CodeInvalidParams)
	if _, limit := errors.AsType[*budget.LimitError](err); limit {
		status, code = http.StatusTooManyRequests, codeInternal
	} else if err == presence.ErrRevoked {
		status, code = http.StatusUnauthorized, codeInvalidRequest
	} else if err == presence.ErrFull || err == presence.ErrEnded {
		status, code = http.StatusServiceUnavailable, codeInternal
	}
	if code == codeInternal {
		x.w.Header().Set("Retry-After", strconv.Itoa(budget.RetryAfter))
	}
	x.refuse(status, id, code, err.Error())
}
