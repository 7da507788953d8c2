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
	message   string
	challenge string // WWW-Authenticate; "" for none
	retry     int    // seconds; 0 for none
	hangUp    bool   // close the connection
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

func refusedHost(host string) *refusal {
	return &refusal{status: http.StatusForbidden, message: fmt.Sprintf("the host %s is not known here: if it is right, write it into allowed_hosts in [http]", sanitize.Quoted(host, maxShown))}
}

func refusedOrigin(origin string) *refusal {
	return &refusal{status: http.StatusForbidden, message: fmt.Sprintf("pages of %s may not use this server: to let them, write it into allowed_origins in [http]", sanitize.Quoted(origin, maxShown))}
}

func refusedSite(site string) *refusal {
	return &refusal{status: http.StatusForbidden, message: fmt.Sprintf("pages of other sites may not use this server (Sec-Fetch-Site: %s): to let a page, write its origin into allowed_origins in [http] and have it send its requests with fetch in mode cors", sanitize.Quoted(site, maxShown))}
}

func tooLong(most int64) *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge, message: fmt.Sprintf("the request is longer than %d bytes (max_body_bytes in [http])", most), hangUp: true}
}
