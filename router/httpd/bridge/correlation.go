package bridge

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"strings"
)

// maxCorrelation bounds a correlation id, in bytes.
const maxCorrelation = 128

// headerCorrelation is where a caller may put it, and where every answer has it.
const headerCorrelation = "X-Correlation-Id"

// correlationOf is what a request is called: as its body says or else its header, without
// what could be mistaken in a log, and otherwise a name of ours.
func correlationOf(r *http.Request, said string) string {
	return cmp.Or(plain(said), plain(r.Header.Get(headerCorrelation)), rand.Text())
}

// plain is what may stay of a correlation id: ASCII that means nothing anywhere. It is a copy: the
// log keeps the id of each call, and must not keep what surrounded it.
func plain(id string) string {
	id = strings.Map(func(c rune) rune {
		if c <= ' ' || c > '~' || strings.ContainsRune("\"\\<>&'`", c) {
			return -1
		}
		return c
	}, id[:min(len(id), 4*maxCorrelation)])
	return strings.Clone(id[:min(len(id), maxCorrelation)])
}
