package bridge

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
)

//go:embed openapi.json
var openapi string

//go:generate go test -run TestThePage . -update
//go:embed docs.html
var docs string

// OpenAPI returns the description of the API, in OpenAPI 3.1.
func OpenAPI() []byte { return []byte(openapi) }

// Documents serves /openapi.json and /docs. They contain nothing secret.
func Documents() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, "application/json", OpenAPI())
	}, http.MethodGet)
	_, style, _ := strings.Cut(docs, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	hash := sha256.Sum256([]byte(style)) // browsers then accept no other style
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	handle(mux, "/docs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		write(w, http.StatusOK, "text/html; charset=utf-8", []byte(docs))
	}, http.MethodGet)
	return mux
}
