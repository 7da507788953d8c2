package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether what is written to w is shown by a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
