package bridge

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"sync"
)

//go:embed openapi.json
var openapi string

// OpenAPI returns the description of the API, OpenAPI 3.1.
func OpenAPI() []byte { return []byte(openapi) }

// Documents serves /openapi.json and /docs. There is nothing in them that strangers may
// not know.
func Documents() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, "application/json", OpenAPI())
	}, http.MethodGet)
	text := sync.OnceValue(page)
	only := "default-src 'none'; style-src " + styleHash() + "; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	handle(mux, "/docs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", only)
		w.Header().Set("Referrer-Policy", "no-referrer")
		write(w, http.StatusOK, "text/html; charset=utf-8", text())
	}, http.MethodGet)
	return mux
}

// styleHash names the page's one style sheet, so that a browser takes no other.
func styleHash() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
