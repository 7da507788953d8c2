package guard

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Plain is next for requests whose path is written plainly. It goes before an http.ServeMux, which would send the others
// to another path.
func Plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if plainPath(r.URL) {
			next.ServeHTTP(w, r)
			return
		}
		why := refusal{status: http.StatusBadRequest, message: "the path is not written plainly: leave out %, \\, //, . and .."}
		why.write(w, r, rpcError)
	})
}

// plainPath reports whether everybody who reads a path reads the same one: it is absolute, without escapes and without
// elements that are nothing.
func plainPath(u *url.URL) bool {
	p := u.EscapedPath()
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, `%\`) {
		return false
	}
	return p == path.Clean(p) || p != "/" && p == path.Clean(p)+"/"
}
