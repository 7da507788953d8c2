package spawn

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"toolman/mcpwire/sanitize"
)

const (
	maxLine   = 4 << 10 // bytes of a line that are kept
	tailLines = 20
	tailBytes = 4 << 10
	cutMark   = "…"
)

// A tail splits a stream into lines and keeps the last ones, which are sanitized when they are
// read. It reuses its memory, which is limited.
type tail struct {
	line func(raw []byte) // gets each complete line and must not keep it

	mu    sync.Mutex
	ring  [tailLines + 1][]byte // ring[ended%len] is the incomplete line
	ended int                   // complete lines so far
	cut   bool                  // the incomplete line is full
}

func newTail(line func([]byte)) *tail { return &tail{line: line} }

// write adds bytes of the stream. A carriage return ends a line too, so that a progress bar becomes
// several lines.
func (t *tail) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(b) > 0 {
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			t.extendLocked(b)
			return
		}
		t.extendLocked(b[:end])
		t.endLineLocked()
		b = b[end+1:]
	}
}

// endLine ends an incomplete last line.
func (t *tail) endLine() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLineLocked()
}

func (t *tail) currentLocked() *[]byte { return &t.ring[t.ended%len(t.ring)] }

func (t *tail) extendLocked(b []byte) {
	if t.cut {
		return
	}
	line := t.currentLocked()
	if len(*line)+len(b) > maxLine-len(cutMark) {
		b = b[:maxLine-len(cutMark)-len(*line)]
		t.cut = true
	}
	*line = append(*line, b...)
	if t.cut {
		*line = append(*line, cutMark...)
	}
}

// endLineLocked passes on the incomplete line, unless it is empty, and begins the next.
func (t *tail) endLineLocked() {
	t.cut = false
	line := t.currentLocked()
	if len(*line) == 0 {
		return
	}
	t.line(*line)
	t.ended++
	next := t.currentLocked()
	*next = (*next)[:0]
}

// String returns the last lines, sanitized, the oldest first.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	size := 0
	for i := t.ended; i >= 0 && i > t.ended-len(t.ring) && len(lines) < tailLines; i-- {
		line := clean(t.ring[i%len(t.ring)])
		if line == "" {
			continue
		}
		if size += len(line); size > tailBytes {
			break
		}
		size++ // the line end
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

const escape = 0x1b

// clean returns a line of untrusted bytes as text that is safe to show, without escape sequences
// and trailing spaces. It is never longer than the line.
func clean(line []byte) string {
	var b strings.Builder
	for {
		i := bytes.IndexByte(line, escape)
		if i < 0 {
			b.Write(line)
			return strings.TrimRight(sanitize.Line(b.String()), " ")
		}
		b.Write(line[:i])
		line = line[i+sequenceLen(line[i:]):]
	}
}

// sequenceLen returns the length of the escape sequence (ECMA-48) that b begins with.
func sequenceLen(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[': // control sequence: parameters and intermediates, then one final byte
		return spanLen(b, 2, 0x20, 0x3f)
	case ']', 'P', 'X', '^', '_': // command string: up to BEL or ESC \
		return stringLen(b)
	default: // intermediates, then one final byte
		return spanLen(b, 1, 0x20, 0x2f)
	}
}

// spanLen counts from bytes that are within lo and hi, and the final byte after them if it is one.
func spanLen(b []byte, from int, lo, hi byte) int {
	i := from
	for i < len(b) && b[i] >= lo && b[i] <= hi {
		i++
	}
	if i < len(b) && b[i] >= 0x30 && b[i] <= 0x7e {
		i++
	}
	return i
}

func stringLen(b []byte) int {
	for i := 2; i < len(b); i++ {
		switch {
		case b[i] == '\a':
			return i + 1
		case b[i] == escape && i+1 < len(b) && b[i+1] == '\\':
			return i + 2
		}
	}
	return len(b)
}
