package spawn

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// stderr reads a child's standard error. It keeps the last lines and gives all lines to a sink.
//
//	pipe ──drain──▶ tail ──▶ lineQueue ──deliver──▶ sink
//
// The reader never waits for the sink, because a child whose standard error is not read blocks in
// write(2) and answers no calls.
type stderr struct {
	file  *os.File // closed by drain
	tail  *tail
	queue *lineQueue    // nil if there is no sink
	eof   chan struct{} // closed after the last read
	done  chan struct{} // closed after the last delivery
}

func drainStderr(file *os.File, sink func(string)) *stderr {
	s := &stderr{file: file, eof: make(chan struct{}), done: make(chan struct{})}
	if sink == nil {
		s.tail = newTail(func([]byte) {})
		s.done = s.eof
	} else {
		s.queue = newLineQueue()
		s.tail = newTail(s.queue.put)
		go func() {
			s.queue.deliver(sink)
			close(s.done)
		}()
	}
	go s.drain()
	return s
}

func (s *stderr) drain() {
	buf := make([]byte, 2<<10) // on the stack, which would grow to four times its size with a larger one
	for {
		n, err := s.file.Read(buf)
		s.tail.write(buf[:n])
		if err != nil { // the end, or the deadline of finish
			break
		}
	}
	s.file.Close()
	s.tail.endLine()
	if s.queue != nil {
		s.queue.close()
	}
	close(s.eof)
}

// finish reads what is left, for at most grace if another process holds the pipe, and waits until
// all is delivered.
func (s *stderr) finish(grace time.Duration) {
	if err := s.file.SetReadDeadline(time.Now().Add(grace)); err != nil {
		closedWithin(s.eof, grace) // pipes of Windows have no deadlines
		s.file.Close()
	}
	<-s.done
}

const (
	queueBytes   = 128 << 10
	lineOverhead = 32 // bytes of a queued line beside its text
)

// A lineQueue holds lines between the goroutine that reads them and the one that delivers them.
// Lines that do not fit are dropped and counted.
type lineQueue struct {
	mu      sync.Mutex
	ready   sync.Cond // signals a change of lines, dropped or closed
	lines   []string
	bytes   int
	dropped int // lines after those in lines; once one is dropped, all are until the next take
	closed  bool
}

func newLineQueue() *lineQueue {
	q := new(lineQueue)
	q.ready.L = &q.mu
	return q
}

// put queues the sanitized line unless it is blank. It does not keep raw.
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

// take waits for lines. It returns none, and none dropped, when the queue is closed and empty.
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

// deliver gives the lines to sink until the queue is closed and empty.
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
