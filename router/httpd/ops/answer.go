package ops

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// reading lets GET and HEAD through.
func reading(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, http.StatusMethodNotAllowed, r.URL.Path+" is read with GET")
			return
		}
		serve(w, r)
	})
}

// Only serves next to requests that may have it. Others are told why not.
func Only(may func(*http.Request) bool, why string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !may(r) {
			fail(w, http.StatusForbidden, why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fail answers what is wrong, for people.
func fail(w http.ResponseWriter, status int, why string) {
	answer(w, status, struct {
		Error string `json:"error"`
	}{why})
}

// answer writes a value as JSON. Nobody keeps it: it is how things are now.
func answer(w http.ResponseWriter, status int, value any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		status = http.StatusInternalServerError
		text.Reset()
		text.WriteString(`{"error":"the answer cannot be written"}`)
	}
	write(w, status, "application/json", text.Bytes())
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body) // a client that is gone has no use for the error
}

// Document serves a text that does not change, such as the JSON Schema of the
// configuration, with GET. The bytes stay the caller's and must not change.
func Document(kind string, text []byte) http.Handler {
	return reading(func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, kind, text) })
}
