package spawn

import (
	"fmt"
	"sync"
)

const (
	queueBytes   = 128 << 10
	lineOverhead = 32 // bytes a queued line costs beside its text
)

// A lineQueue holds lines between the goroutine that reads them and the one that delivers them.
// Putting never waits; what does not fit is dropped and counted.
type lineQueue struct {
	mu      sync.Mutex
	ready   sync.Cond // lines, dropped or closed has changed
	lines   []string
	bytes   int
	dropped int // lines that came after lines; once some are dropped all are, until the queue is taken
	closed  bool
}

func newLineQueue() *lineQueue {
	q := new(lineQueue)
	q.ready.L = &q.mu
	return q
}

// put queues the cleaned line, unless nothing is left of it. It does not keep raw.
func (q *lineQueue) put(raw []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.ready.Signal()
	if q.dropped > 0 || q.bytes+len(raw) > queueBytes {
		q.dropped++
		return
	}
	if line := clean(raw); line != "" {
		q.lines = append(q.lines, line)
		q.bytes += len(line) + lineOverhead
	}
}

func (q *lineQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.ready.Signal()
}

// take waits for lines. Nothing at all means that the queue is closed and empty.
func (q *lineQueue) take() (lines []string, dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 && q.dropped == 0 && !q.closed {
		q.ready.Wait()
	}
	lines, dropped = q.lines, q.dropped
	q.lines, q.bytes, q.dropped = nil, 0, 0
	return lines, dropped
}

// deliver gives every line to sink until the queue is closed and empty.
func (q *lineQueue) deliver(sink func(string)) {
	for {
		lines, dropped := q.take()
		if len(lines) == 0 && dropped == 0 {
			return
		}
		for _, line := range lines {
			sink(line)
		}
		if dropped > 0 {
			sink(fmt.Sprintf("… %d lines dropped", dropped))
		}
	}
}
