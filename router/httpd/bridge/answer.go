package bridge

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// writeJSON answers with a value as JSON, at once.
func writeJSON(w http.ResponseWriter, status int, value any) {
	text, err := encode(value)
	if err != nil {
		status = http.StatusInternalServerError
		text = []byte(`{"error":{"code":"internal_error","message":"the answer cannot be written"}}`)
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
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body) // fails only when the client is gone
}
