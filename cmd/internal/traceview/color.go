package traceview

import (
	"io"
	"os"

	"golang.org/x/term"
)

// A color is an ANSI escape sequence.
type color string

const (
	red    color = "\x1b[31m"
	green  color = "\x1b[32m"
	yellow color = "\x1b[33m"
	cyan   color = "\x1b[36m"
	faint  color = "\x1b[2m"
	bold   color = "\x1b[1m"

	plain color = "\x1b[0m"
)

// Colored reports whether what is written to w should have colours: it is a terminal that understands them, and the user has not
// asked for none (https://no-color.org).
func Colored(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && Terminal(w) }

// Terminal reports whether w is a terminal that understands escape sequences.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())) && enableColors(f)
}
