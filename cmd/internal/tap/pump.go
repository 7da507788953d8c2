package tap

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"toolman/cmd/internal/tap/record"
)

// pumpBytes is the most that a pump passes on at once: what a pipe of Linux holds by default.
const pumpBytes = 64 << 10

// A pump copies one stream as it comes, and gives a copy to the trace.
type pump struct {
	from, to *os.File
	copy     *record.Stream
	stopped  *direction    // with --debug, messages pass through it; nil: as they come
	done     chan struct{} // closed when the stream has ended, and its end was passed on
	reading  atomic.Int64  // since when it waits for the next piece, in Unix nanoseconds; 0: it is passing on one
}

func newPump(from, to *os.File, copy *record.Stream) *pump {
	return &pump{from: from, to: to, copy: copy, done: make(chan struct{})}
}

// run copies until one of the ends is closed, and then closes both: the reader sees the end of the
// stream, and the writer that nobody reads.
func (p *pump) run() {
	defer close(p.done)
	defer p.from.Close()
	defer p.to.Close()
	defer p.end()
	buf := make([]byte, pumpBytes)
	for {
		p.reading.Store(time.Now().UnixNano())
		n, err := p.from.Read(buf)
		p.reading.Store(0)
		if n > 0 && p.pass(buf[:n]) != nil {
			return
		}
		if err != nil && (err != io.EOF || n == 0) {
			return
		}
	}
}

// pass passes on a piece of the stream. The copy comes first, so that the trace has a request
// before its answer.
func (p *pump) pass(piece []byte) error {
	if p.stopped != nil {
		return p.stopped.put(piece)
	}
	p.copy.Put(piece)
	_, err := p.to.Write(piece)
	return err
}

// end says that the stream has ended.
func (p *pump) end() {
	if p.stopped != nil {
		p.stopped.close()
	}
	p.copy.End()
}

// idle reports whether the pump has waited that long for more.
func (p *pump) idle(d time.Duration) bool {
	since := p.reading.Load()
	return since != 0 && time.Since(time.Unix(0, since)) >= d
}
