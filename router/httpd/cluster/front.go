package cluster

import (
	"bytes"
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpbody"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/cluster/hop"
)

// A Front is a front whose requests are forwarded.
type Front struct {
	Bridge bool // its requests are not JSON-RPC, and no session has an ID
	// Identify returns what the owner has to know of the client that sends a request.
	Identify func(r *http.Request) hop.Head
	// Forwarded is called before a request is forwarded to a replica. It may be nil.
	Forwarded func(r *http.Request, replica string)
}

// A failure is an error that ends a request.
type failure struct {
	ran  bool // the request may have been carried out
	code int  // HTTP status of a request that was not carried out
	text string
}

// refuse answers a request that has this body with a failure.
func (f *Front) refuse(w http.ResponseWriter, r *http.Request, body []byte, why failure) {
	var text []byte
	status := why.code
	if f.Bridge {
		status, text = f.bridgeError(r, why)
	} else {
		if why.ran {
			status = http.StatusOK // the error is that of the call
		}
		text = appendErrors(nil, body, why.text)
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

// bridgeError returns the response of the bridge.
func (f *Front) bridgeError(r *http.Request, why failure) (status int, body []byte) {
	code := bridge.Unavailable
	switch {
	case why.ran:
		code = bridge.Timeout
	case why.code == http.StatusBadRequest:
		code = bridge.BadRequest
	case why.code == http.StatusUnauthorized:
		code = bridge.Unauthenticated
	case why.code == http.StatusRequestEntityTooLarge:
		code = bridge.TooLarge
	case why.code == http.StatusTooManyRequests:
		code = bridge.RateLimited
	}
	return bridge.ErrorResponse(r, code, why.text)
}

// event returns a failure as the last event of a stream; nil if nobody waits for an answer.
func (f *Front) event(r *http.Request, body []byte, why failure) []byte {
	if f.Bridge {
		_, text := f.bridgeError(r, why)
		return httpbody.AppendEvent(nil, "error", bytes.TrimSpace(text))
	}
	if r.Method != http.MethodPost {
		return nil
	}
	return httpbody.AppendEvent(httpbody.AppendEventID(nil, httpbody.EndID), "message", appendErrors(nil, body, why.text))
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

// repeats reports whether a request may be sent again if it may have been carried out: it calls no
// tool.
func (f *Front) repeats(r *http.Request, body []byte) bool {
	if r.Method != http.MethodPost {
		return true
	}
	if f.Bridge {
		return r.URL.Path == "/tools"
	}
	var m jsonrpc.Message
	return jsonrpc.Scan(bytes.TrimSpace(body), &m) == nil && mcpwire.MethodOf(m.Text(m.Method)) != mcpwire.ToolsCall
}
