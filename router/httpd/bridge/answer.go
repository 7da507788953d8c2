package bridge

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"toolman/mcpwire/sse"
	"toolman/router/budget"
)

// writeJSON answers with a value as JSON, at once. What of it waits for the client is counted by
// kept; nil: nothing does.
func writeJSON(w http.ResponseWriter, status int, value any, kept *budget.Reader) {
	text, err := encode(value)
	if err != nil {
		status = http.StatusInternalServerError
		text = []byte(`{"error":{"code":"internal_error","message":"the answer cannot be written"}}`)
	}
	writeText(w, status, text, kept)
}

// writeText is writeJSON for what is JSON already.
func writeText(w http.ResponseWriter, status int, text []byte, kept *budget.Reader) {
	if err := kept.Take(len(text)); err != nil {
		writeFailure(w, limited(err), w.Header().Get(headerCorrelation))
		return
	}
	write(w, status, "application/json", text)
}

// encode is a value as JSON, without escapes that only web pages need.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return text.Bytes(), err
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	c := http.NewResponseController(w)
	c.SetWriteDeadline(sse.Deadline(len(body))) // fails only without a connection
	defer c.SetWriteDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body) // fails only when the client is gone or does not read
	c.Flush()
}
