package config

import (
	"strings"
	"syscall"
)

const exampleSocket = `"/run/mcp.sock"`

// longestSocket is how long the path of a Unix socket can be, in bytes; a zero stands behind it.
const longestSocket = len(syscall.RawSockaddrUnix{}.Path) - 1

// socket is the path as written.
func (t table) socket() string {
	s, ok := t.text("socket", exampleSocket)
	t.note("socket", filledForm())
	if ok && strings.TrimSpace(s) == "" {
		t.outside("socket", "write "+t.d.write("socket", exampleSocket))
	}
	return s
}

// socket is a path as written with its references replaced, made absolute.
func (sc scope) socket(written string) string {
	path := sc.path(written, "name a socket")
	if len(path) > longestSocket {
		sc.fail("choose a shorter one", "the path has %d bytes, which is more than that of a Unix socket can have", len(path))
	}
	return path
}
