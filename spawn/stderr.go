package spawn

import (
	"os"
	"time"
)

// stderr drains one child's standard error: into a tail that is always kept, and as lines to a sink.
//
//	pipe ──drain──▶ tail ──▶ lineQueue ──deliver──▶ sink
//
// The reader never waits for the sink: a child blocks in write(2) when nobody reads, and then answers no call either.
type stderr struct {
	file  *os.File // closed by drain
	tail  *tail
	queue *lineQueue    // nil if there is no sink
	eof   chan struct{} // closed when nothing more is read
	done  chan struct{} // closed when everything read has been delivered too
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
	buf := make([]byte, 2<<10) // on the stack, which a larger one would make four times as large for each server
	for {
		n, err := s.file.Read(buf)
		s.tail.write(buf[:n])
		if err != nil { // the end, or the deadline set by finish
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

// finish lets drain read what is left, for at most grace if somebody still holds the pipe, and waits until all is delivered.
func (s *stderr) finish(grace time.Duration) {
	if err := s.file.SetReadDeadline(time.Now().Add(grace)); err != nil {
		await(s.eof, grace) // no deadlines on Windows pipes
		s.file.Close()
	}
	<-s.done
}
