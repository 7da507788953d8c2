package audit

import (
	"fmt"
	"io"
	"sync"
	"time"

	"toolman/jsonrpc/trace"
)

const (
	defaultLines = 16 << 10 // that wait
	defaultBytes = 32 << 20 // of arguments
	flushBytes   = 64 << 10 // rendered lines are written when there are this many bytes
)

// Options configure a Writer. The zero value is usable.
type Options struct {
	Arguments bool            // lines have the arguments, and not only their hash
	Scrub     *trace.Scrubber // takes out what must not appear; nil takes nothing out
	Lines     int             // that may wait to be written; 0: 16,384
	Bytes     int             // of arguments that are kept; 0: 32 MiB
	Warn      func(error)     // told once, from the Writer's goroutine, when a line cannot be written; may be nil
}

// A Writer writes an audit log. Its methods may be called from any goroutine.
type Writer struct {
	out  *trace.Lines // nil: nothing is written
	opts Options
	wake chan struct{} // holds a token when there may be something to take
	done chan struct{} // closed when the last line is written

	observer Observer // may be nil

	mu      sync.Mutex
	queue   []*Decision // guarded by mu
	held    int         // guarded by mu: bytes of arguments
	dropped uint64      // guarded by mu: lines that the next one has to report
	closed  bool        // guarded by mu

	// owned by the goroutine
	render renderer
	buf    []byte
	weight uint64 // lines that are lost when buf is
	warned bool
}

// NewWriter starts a Writer on out, which it never closes.
func NewWriter(out io.Writer, o Options) *Writer {
	if o.Lines <= 0 {
		o.Lines = defaultLines
	}
	if o.Bytes <= 0 {
		o.Bytes = defaultBytes
	}
	if o.Scrub == nil {
		o.Scrub = trace.NewScrubber(nil)
	}
	w := &Writer{out: trace.NewLines(out), opts: o, wake: make(chan struct{}, 1), done: make(chan struct{}),
		render: renderer{arguments: o.Arguments, scrub: o.Scrub}}
	go w.run()
	return w
}

// Close writes what has ended, and waits for that at most timeout. What ends later is lost.
func (w *Writer) Close(timeout time.Duration) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-w.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("audit: the output took no more lines for %v; its end is missing", timeout)
	}
}

// hold makes room for the arguments of a request.
func (w *Writer) hold(size int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held+size > w.opts.Bytes {
		return false
	}
	w.held += size
	return true
}

func (w *Writer) enqueue(d *Decision) {
	w.mu.Lock()
	if w.closed || len(w.queue) >= w.opts.Lines {
		w.dropped++
		w.held -= len(d.arguments)
		w.mu.Unlock()
		return
	}
	w.queue = append(w.queue, d)
	w.mu.Unlock()
	w.signal()
}

// signal wakes the goroutine. A token that is already there will do.
func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Writer) run() {
	defer close(w.done)
	for {
		<-w.wake
		all, dropped, last := w.take()
		for _, d := range all {
			w.add(d.line, d, dropped)
			dropped = 0
		}
		w.flush()
		if last {
			w.report()
			return
		}
	}
}

// take takes what is queued, and the count of lines that the first of them reports.
func (w *Writer) take() (all []*Decision, dropped uint64, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, w.queue = w.queue, nil
	if len(all) > 0 {
		dropped, w.dropped = w.dropped, 0
	}
	return all, dropped, w.closed
}

func (w *Writer) add(line Line, d *Decision, dropped uint64) {
	line.Dropped = dropped
	w.buf = w.render.append(w.buf, line, d)
	w.weight += 1 + dropped
	w.release(len(d.arguments))
	if len(w.buf) >= flushBytes {
		w.flush()
	}
}

func (w *Writer) release(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held -= size
}

// report says at the end what no line has said.
func (w *Writer) report() {
	w.mu.Lock()
	dropped := w.dropped
	w.dropped = 0
	w.mu.Unlock()
	if dropped > 0 {
		w.add(Line{Time: time.Now().UTC().Truncate(time.Microsecond)}, &Decision{}, dropped)
		w.flush()
	}
}

// flush writes buf. What the output did not take is lost: later lines may find room again.
func (w *Writer) flush() {
	if len(w.buf) == 0 {
		return
	}
	if whole, err := w.out.Write(w.buf); err != nil {
		w.lose(w.weight - min(w.weight, uint64(whole)))
		w.warn(err)
	}
	w.buf, w.weight = w.buf[:0], 0
	if cap(w.buf) > 4*flushBytes {
		w.buf = nil
	}
}

func (w *Writer) lose(lines uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped += lines
}

func (w *Writer) warn(err error) {
	if !w.warned && w.opts.Warn != nil {
		w.warned = true
		w.opts.Warn(fmt.Errorf("audit: %w (calls go on; lines that cannot be written are counted)", err))
	}
}
