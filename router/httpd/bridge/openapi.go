package bridge

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
)

//go:embed openapi.json
var openapi string

//go:embed docs.html
var docs string

// OpenAPI returns the description of the API, OpenAPI 3.1.
func OpenAPI() []byte { return []byte(openapi) }

// A description is as much of the description as people are shown.
type description struct {
	Info  struct{ Title, Description string }
	Paths map[string]map[string]struct {
		Summary, Description string
		Parameters           []struct{ Name, In, Description string }
		Responses            map[string]struct{ Description string }
	}
	Components struct{ Schemas map[string]json.RawMessage }
}

// page is the description as a page that needs nothing else.
func page() ([]byte, error) {
	var d description
	if err := json.Unmarshal(OpenAPI(), &d); err != nil {
		return nil, err
	}
	t, err := template.New("docs").Funcs(template.FuncMap{"upper": strings.ToUpper, "indent": indented}).Parse(docs)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = t.Execute(&text, d)
	return text.Bytes(), err
}

func indented(text json.RawMessage) (string, error) {
	var out bytes.Buffer
	err := json.Indent(&out, text, "", "  ")
	return out.String(), err
}

// Documents serves /openapi.json and /docs. There is nothing in them that strangers may
// not know.
func Documents() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, "application/json", OpenAPI())
	})
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		text, err := page()
		if err != nil {
			writeFailure(w, fail(Internal, err.Error()), correlationOf(r, ""))
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		write(w, http.StatusOK, "text/html; charset=utf-8", text)
	})
	return mux
}
