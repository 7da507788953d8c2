package spawn

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

const (
	maxLine   = 4 << 10 // bytes of a line that are kept
	tailLines = 20
	tailBytes = 4 << 10
	cutMark   = "…"
)

// A tail splits a stream into lines and keeps the last of them, as they came: they are cleaned when somebody looks.
// Its memory is bounded and reused, so that a flood costs time only.
type tail struct {
	line func(raw []byte) // gets each finished line; must not keep it

	mu    sync.Mutex
	ring  [tailLines + 1][]byte // ring[ended%len] is the line being written
	ended int                   // lines finished so far
	cut   bool                  // the line being written is full
}

func newTail(line func([]byte)) *tail { return &tail{line: line} }

// write takes the next bytes of the stream. A carriage return ends a line as well, so progress bars come apart.
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

// endLine finishes the last line of a stream that does not end in a line end.
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

// endLineLocked passes on the line being written and begins the next; a blank one is taken back.
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

// String returns the last lines, cleaned, oldest first.
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
