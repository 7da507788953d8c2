package check

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSchemasAreDownloaded(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"$defs":{"A":{}}}`) }
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	defer server.Close()
	f := newFetcher()
	f.from, f.http.Transport = server.URL+"/", server.Client().Transport
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := f.fetch(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{"2024-11-05", "2026-07-28"} {
		if _, err := os.Stat(filepath.Join(dir, revision+".json")); err != nil {
			t.Error(err)
		}
	}
	for want, bad := range map[string]func(http.ResponseWriter, *http.Request){
		"404":               func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"neither $defs nor": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "{}") },
		"redirects to http://": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
		"longer than": func(w http.ResponseWriter, r *http.Request) {
			for range maxSchema>>20 + 1 {
				fmt.Fprint(w, strings.Repeat(" ", 1<<20))
			}
		},
	} {
		answer = bad
		if err := f.fetch(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".toolman-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
