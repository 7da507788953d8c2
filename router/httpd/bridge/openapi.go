package bridge

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
)

//go:embed openapi.json
var openapi string

// page is the description as a page that needs nothing else. It is made of docs.html by
// the tests: with a template in the program the linker would keep every exported method
// of every type, since templates find methods by name.
//
//go:embed page.html
var page []byte

// OpenAPI returns the description of the API, OpenAPI 3.1.
func OpenAPI() []byte { return []byte(openapi) }

// Documents serves /openapi.json and /docs. There is nothing in them that strangers may
// not know.
func Documents() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, "application/json", OpenAPI())
	})
	only := "default-src 'none'; style-src " + styleHash() + "; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", only)
		w.Header().Set("Referrer-Policy", "no-referrer")
		write(w, http.StatusOK, "text/html; charset=utf-8", page)
	})
	return mux
}

// styleHash names the page's one style sheet, so that a browser takes no other.
func styleHash() string {
	_, rest, _ := bytes.Cut(page, []byte("<style>"))
	style, _, _ := bytes.Cut(rest, []byte("</style>"))
	sum := sha256.Sum256(style)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
