package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// A Live shows lines at the end of its output, which it replaces if that is a terminal.
type Live struct {
	Out      io.Writer
	Terminal bool // Out supports escape sequences
	Rows     int  // of the terminal; 0 if unknown

	mu    sync.Mutex
	lines int // guarded by mu: how many are shown above the cursor
}

// NewLive returns a Live on out.
func NewLive(out *os.File) *Live {
	l := &Live{Out: out, Terminal: HasEscapes(out)}
	if _, rows, err := term.GetSize(int(out.Fd())); l.Terminal && err == nil {
		l.Rows = rows
	}
	return l
}

// Escape sequences of terminals.
const (
	lineUp   = "\x1b[%dF" // to the beginning of a line above
	eraseAll = "\x1b[J"   // from the cursor to the end of the screen
	noWrap   = "\x1b[?7l" // long lines are cut off
	wrap     = "\x1b[?7h"
)

// Draw replaces the lines.
func (l *Live) Draw(lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b bytes.Buffer
	l.eraseLocked(&b)
	l.lines = len(lines)
	if len(lines) > 0 {
		fmt.Fprintf(&b, "%s%s\n%s", noWrap, strings.Join(lines, "\n"), wrap)
	}
	l.Out.Write(b.Bytes())
}

func (l *Live) eraseLocked(b *bytes.Buffer) {
	if l.lines > 0 {
		fmt.Fprintf(b, lineUp+eraseAll, l.lines)
		l.lines = 0
	}
}

// Write writes whole lines, such as those of the log, in place of the lines of Draw.
func (l *Live) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b bytes.Buffer
	l.eraseLocked(&b)
	b.Write(text)
	_, err := l.Out.Write(b.Bytes())
	return len(text), err
}
