package guard

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkProtect is what the guard adds to a request that comes in.
func BenchmarkProtect(b *testing.B) {
	token, hash := withToken("reader")
	for name, o := range map[string]Options{"anonymous": {}, "token": {Tokens: []Token{hash}, Agents: []string{"reader"}, RateLimit: 1e9}} {
		b.Run(name, func(b *testing.B) {
			g, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			h := g.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			r := httptest.NewRequest("POST", "http://localhost:8900/mcp", http.NoBody)
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				clear(w.Header())
				h.ServeHTTP(w, r)
			}
		})
	}
}
