package guard

import (
	"net/url"
	"path"
	"strings"
)

// plainPath reports whether everybody who reads a path reads the same one: it is absolute, without escapes and without
// elements that are nothing.
func plainPath(u *url.URL) bool {
	p := u.EscapedPath()
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, `%\`) {
		return false
	}
	return p == path.Clean(p) || p != "/" && p == path.Clean(p)+"/"
}
