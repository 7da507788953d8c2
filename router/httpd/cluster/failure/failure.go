package failure

import (
	"bytes"
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire/httpbody"
	"toolman/router/httpd/bridge"
)

// A Failure is an error that ends a request.
type Failure struct {
	Ran    bool   // the request may have been carried out
	Status int    // HTTP status of a request that was not carried out
	Text   string // what is wrong, and what to do
	Bridge bool   // the request is one of the bridge, not JSON-RPC
}

// Write answers a request that has this body.
func (f *Failure) Write(w http.ResponseWriter, r *http.Request, body []byte) {
	var text []byte
	status := f.Status
	if f.Bridge {
		status, text = f.ofBridge(r)
	} else {
		if f.Ran {
			status = http.StatusOK // the error is that of the call
		}
		text = appendErrors(nil, body, f.Text)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	w.Write(text) // fails only if the client has disconnected
}

// ofBridge returns the response of the bridge.
func (f *Failure) ofBridge(r *http.Request) (status int, body []byte) {
	code := bridge.Unavailable
	switch {
	case f.Ran:
		code = bridge.Timeout
	case f.Status == http.StatusBadRequest:
		code = bridge.BadRequest
	case f.Status == http.StatusUnauthorized:
		code = bridge.Unauthenticated
	case f.Status == http.StatusRequestEntityTooLarge:
		code = bridge.TooLarge
	case f.Status == http.StatusTooManyRequests:
		code = bridge.RateLimited
	}
	return bridge.ErrorResponse(r, code, f.Text)
}

// Event returns the last event of a stream that answers a request with this body; nil if nobody
// waits for an answer.
func (f *Failure) Event(r *http.Request, body []byte) []byte {
	if f.Bridge {
		_, text := f.ofBridge(r)
		return httpbody.AppendEvent(nil, "error", bytes.TrimSpace(text))
	}
	if r.Method != http.MethodPost {
		return nil
	}
	return httpbody.AppendEvent(httpbody.AppendEventID(nil, httpbody.EndID), "message", appendErrors(nil, body, f.Text))
}

// appendErrors appends the error that answers a message, which may be a batch.
func appendErrors(dst, body []byte, text string) []byte {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' && jsonrpc.Valid(body) {
		begin := len(dst)
		for at := range jsonrpc.Elements(body, jsonrpc.Span{Hi: len(body)}) {
			if id := requestID(body[at.Lo:at.Hi]); id != nil {
				dst = jsonrpc.AppendError(append(dst, ','), id, jsonrpc.CodeInternalError, text, nil)
			}
		}
		if len(dst) > begin {
			dst[begin] = '['
			return append(dst, ']')
		}
	}
	id := requestID(body)
	dst = jsonrpc.AppendError(dst, id, jsonrpc.CodeInternalError, text, nil)
	if id == nil {
		dst = bytes.Replace(dst, []byte(`"id":null,`), nil, 1) // MCP's schema has no null there
	}
	return dst
}

// requestID returns the ID of a request; nil if a message is none.
func requestID(frame []byte) []byte {
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) != nil || m.Kind != jsonrpc.Request {
		return nil
	}
	return m.Bytes(m.ID)
}
