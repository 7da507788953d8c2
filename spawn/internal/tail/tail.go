package tail

import (
	"bytes"
	"sync"

	"toolman/mcpwire/sanitize"
)

const (
	maxLine   = 4 << 10 // bytes of a line that are kept
	tailLines = 20
	tailBytes = 4 << 10
	cutMark   = "…"
)

// A Tail splits a stream into lines and keeps the last ones. It reuses its memory, which is limited.
// Its methods may be called from several goroutines.
type Tail struct {
	line func(raw []byte) // gets each complete line and must not keep it

	mu    sync.Mutex
	ring  [tailLines + 1][]byte // guarded by mu: ring[ended%len] is the incomplete line
	ended int                   // guarded by mu: complete lines so far
	cut   bool                  // guarded by mu: the incomplete line is full
}

// New returns a Tail that passes each complete line to line, which must not keep it.
func New(line func(raw []byte)) *Tail { return &Tail{line: line} }

// Write adds bytes of the stream. A carriage return ends a line too, so that a progress bar becomes
// several lines.
func (t *Tail) Write(b []byte) {
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

// EndLine ends an incomplete last line.
func (t *Tail) EndLine() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLineLocked()
}

func (t *Tail) extendLocked(b []byte) {
	if t.cut {
		return
	}
	line := &t.ring[t.ended%len(t.ring)]
	room := maxLine - len(cutMark) - len(*line)
	t.cut = len(b) > room
	*line = append(*line, b[:min(len(b), room)]...)
	if t.cut {
		*line = append(*line, cutMark...)
	}
}

// endLineLocked passes on the incomplete line, unless it is empty, and begins the next one.
func (t *Tail) endLineLocked() {
	t.cut = false
	line := t.ring[t.ended%len(t.ring)]
	if len(line) == 0 {
		return
	}
	t.line(line)
	t.ended++
	next := &t.ring[t.ended%len(t.ring)]
	*next = (*next)[:0]
}

// String returns the last lines, sanitized, oldest first.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, lines := "", 0
	for i := t.ended; i >= 0 && i > t.ended-len(t.ring) && lines < tailLines; i-- {
		line := sanitize.Output(t.ring[i%len(t.ring)])
		if line == "" {
			continue
		}
		if lines++; lines > 1 {
			line += "\n"
		}
		if len(line)+len(text) > tailBytes {
			break
		}
		text = line + text
	}
	return text
}
