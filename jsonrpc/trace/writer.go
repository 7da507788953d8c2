package trace

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultMaxMsg = 64 << 10
	defaultQueue  = 8 << 20
	flushBytes    = 64 << 10 // rendered lines are written when there are this many, or none left to render
	keepBytes     = 1 << 20  // buffers that a burst made larger than this are given back
)

// Options configure a Writer. The zero value is usable.
type Options struct {
	Session    Session
	Secrets    []string    // values that must not appear in the trace
	MaxMsg     int         // bytes of a frame that are kept; 0: 64 KiB
	QueueBytes int         // bytes that may wait to be written; 0: 8 MiB
	Warn       func(error) // told once, from the Writer's goroutine, when the output cannot be written; may be nil
}

// A Writer writes a trace. Its methods may be called from any goroutine; on a nil Writer they do nothing.
type Writer struct {
	// immutable after NewWriter
	out    *Lines
	opts   Options
	start  time.Time
	wake   chan struct{} // holds a token when there may be something to take
	done   chan struct{} // closed when the last line is written
	scrubs atomic.Pointer[patterns]

	// guarded by mu
	mu      sync.Mutex
	secrets secrets
	filling *batch
	pending int    // bytes in filling and in the batch being written
	lost    uint64 // lines lost since the last drop event
	seq     uint64 // of the next line
	closed  bool

	// owned by the goroutine
	render  renderer
	buf     []byte // whole lines, not yet written
	held    int    // pending bytes that buf stands for
	weight  uint64 // lines that are lost when buf is
	failure error  // the last write's
	warned  bool
}

// NewWriter starts a Writer on out, which it never closes, and writes the session line.
func NewWriter(out io.Writer, o Options) *Writer {
	if o.MaxMsg <= 0 {
		o.MaxMsg = defaultMaxMsg
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = defaultQueue
	}
	w := &Writer{
		out: NewLines(out), opts: o, start: time.Now(), seq: 1,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		secrets: secrets{lasting: slices.Clone(o.Secrets)}, filling: new(batch),
	}
	w.scrubs.Store(w.secrets.patterns())
	go w.run()
	return w
}

// AddSecrets adds values that must not appear. It holds for every frame and event given to the Writer after it returns.
func (w *Writer) AddSecrets(values ...string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.secrets.add(values) {
		w.scrubs.Store(w.secrets.patterns())
	}
}

// LendSecrets adds values that must not appear in frames and events given to the Writer after it returns, until back is
// called, once.
func (w *Writer) LendSecrets(values ...string) (back func()) {
	if w == nil {
		return func() {}
	}
	lend := func(do func([]string)) {
		w.mu.Lock()
		defer w.mu.Unlock()
		do(values)
		w.scrubs.Store(w.secrets.patterns())
	}
	lend(w.secrets.lend)
	return func() { lend(w.secrets.takeBack) }
}

// Close writes what is queued and ends the Writer; it waits for at most timeout. It returns an error that says what is missing
// from the output. Frames and events that come later are ignored.
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
		return w.verdict()
	case <-timer.C:
		return fmt.Errorf("trace: the output took no more lines for %v; its end is missing", timeout)
	}
}

func (w *Writer) verdict() error {
	if w.failure == nil {
		return nil
	}
	return fmt.Errorf("trace: its end is missing: %w", w.failure)
}

func (w *Writer) run() {
	defer close(w.done)
	w.render.maxMsg = w.opts.MaxMsg
	w.render.use(w.scrubs.Load())
	w.buf = w.render.session(w.buf, &w.opts.Session, w.start)
	w.weight++
	w.flush()
	spent := new(batch)
	for last := false; !last; {
		spent, last = w.take(spent)
		for i := range spent.entries {
			w.line(&spent.entries[i])
		}
		w.flush()
		spent.reset()
	}
}

func (w *Writer) line(e *entry) {
	w.render.use(e.scrubs)
	w.buf = w.render.entry(w.buf, e, e.at.Sub(w.start))
	w.held += e.cost
	w.weight += max(e.lost, 1)
	if len(w.buf) >= flushBytes {
		w.flush()
	}
}

// flush writes buf. What the output did not take is lost: the next batch may find room again, and must not wait for it.
func (w *Writer) flush() {
	if len(w.buf) == 0 {
		return
	}
	whole, err := w.out.Write(w.buf)
	lost := uint64(0)
	if err != nil {
		lost = w.weight - min(w.weight, uint64(whole))
		w.warn(err)
	}
	w.failure = err
	w.release(w.held, lost)
	w.held, w.weight, w.buf = 0, 0, w.buf[:0]
	if cap(w.buf) > keepBytes {
		w.buf = nil
	}
}

func (w *Writer) warn(err error) {
	if w.warned || w.opts.Warn == nil {
		return
	}
	w.warned = true
	w.opts.Warn(fmt.Errorf("trace: %w (nothing else is affected; lines that cannot be written are counted)", err))
}
