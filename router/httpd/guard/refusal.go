package guard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"toolman/mcpwire/sanitize"
)

// A refusal is the response to a request that is not accepted.
type refusal struct {
	status    int
	message   string // for people; in ASCII and without quotes if there is a code
	code      string // of RFC 6750, 3.1; "" for none
	counts    bool   // it counts towards the limit of wrong credentials
	challenge string // WWW-Authenticate; "" for none
	retry     int    // seconds; 0 for none
	hangUp    bool   // close the connection
}

// Error implements error.
func (why *refusal) Error() string { return why.message }

func noCredential() *refusal {
	return &refusal{status: http.StatusUnauthorized, message: "a bearer token is needed: Authorization: Bearer TOKEN"}
}

func badRequest(text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "invalid_request", message: text, counts: true}
}

func invalidToken(text string) *refusal {
	return &refusal{status: http.StatusUnauthorized, code: "invalid_token", message: text, counts: true}
}

// invalidRequest is the JSON-RPC error code of refused requests.
const invalidRequest = -32600

// rpcError is a RefusalBody: a JSON-RPC error without an ID, as the body has not been read.
func rpcError(_ *http.Request, _ int, message string) []byte {
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "error": map[string]any{"code": invalidRequest, "message": message}, "id": nil})
	return text
}

// write answers the request.
func (why *refusal) write(w http.ResponseWriter, r *http.Request, body RefusalBody) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if why.challenge != "" {
		h.Set("WWW-Authenticate", why.challenge)
	}
	if why.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(why.retry))
	}
	if why.hangUp {
		h.Set("Connection", "close")
	}
	w.WriteHeader(why.status)
	w.Write(append(body(r, why.status, why.message), '\n')) // fails only if the client has disconnected
}

// maxShown is how many characters of a header an error repeats.
const maxShown = 80

// forbidden refuses a request. The format has one verb, for a value of the request.
func forbidden(format, value string) *refusal {
	return &refusal{status: http.StatusForbidden, message: fmt.Sprintf(format, sanitize.Quoted(value, maxShown))}
}
