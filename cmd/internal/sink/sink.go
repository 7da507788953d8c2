package sink

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A Sink passes what is written to it on to a slower writer. What does not fit its
// queue is dropped, and how much is said once there is room again. It implements
// zapcore.WriteSyncer.
type Sink struct {
	out   io.Writer
	limit int
	done  chan struct{}

	mu      sync.Mutex
	more    *sync.Cond
	queue   []byte // guarded by mu
	dropped int    // guarded by mu: writes that did not fit
	closed  bool   // guarded by mu
}

// New makes a sink that holds at most limit bytes.
func New(out io.Writer, limit int) *Sink {
	s := &Sink{out: out, limit: limit, done: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	go s.run()
	return s
}

// Write queues p whole or drops it. It never fails and never waits.
func (s *Sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
	case len(s.queue)+len(p) > s.limit:
		s.dropped++
	default:
		s.queue = append(s.queue, p...)
		s.more.Signal()
	}
	return len(p), nil
}

// Sync does nothing: it would have to wait.
func (s *Sink) Sync() error { return nil }

// Close writes what is queued, waiting for it at most patience.
func (s *Sink) Close(patience time.Duration) {
	s.mu.Lock()
	s.closed = true
	s.more.Signal()
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-time.After(patience):
	}
}

func (s *Sink) run() {
	defer close(s.done)
	var spare []byte
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(s.queue) == 0 && !s.closed {
			s.more.Wait()
		}
		if len(s.queue) == 0 {
			return
		}
		full, dropped := s.queue, s.dropped
		s.queue, s.dropped = spare[:0], 0
		s.mu.Unlock()
		s.out.Write(full) // there is nobody to tell of an error
		if dropped > 0 {
			fmt.Fprintf(s.out, "toolman: %d log lines were dropped because they were not read in time\n", dropped)
		}
		s.mu.Lock()
		spare = full
	}
}
