package asyncwriter

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	flushBytes  = 64 << 10 // lines are written when there are this many bytes, or no more items
	keepBytes   = 1 << 20  // larger buffers are released after use
	keepEntries = 2 << 10
)

// Options configure a Writer of items of type T.
type Options[T any] struct {
	Name  string // of the output, for errors
	Limit int    // the most that the items that wait may cost together

	// Append appends the lines of an entry. The Writer's goroutine calls it.
	Append func(dst []byte, e *Entry[T]) []byte

	// Keep, if any, copies what an item borrows from the caller of Put. Items are kept in the order
	// of their lines.
	Keep func(item *T, to *Bytes)

	// Report says that lost lines are reported as soon as there is room, in an entry without an
	// item. Otherwise they wait for the next item, or for Close.
	Report bool

	// Warn, if any, gets the first error of the output. The Writer's goroutine calls it.
	Warn func(error)
}

// An Entry is an item in the queue, a report of lost lines, or both.
type Entry[T any] struct {
	Item  T
	Empty bool   // there is no item
	Lost  uint64 // lines that are missing before this one
	Seq   uint64 // the number of this line, the lost ones included; with both, the report has the number before it
	cost  int
}

// A Writer writes lines. Its methods may be called from any goroutine; on a nil Writer they do
// nothing.
type Writer[T any] struct {
	o    Options[T]
	out  lines
	done chan struct{} // closed after the last write

	mu      sync.Mutex
	more    *sync.Cond // on mu: there is something to take
	filling *batch[T]  // guarded by mu
	waiting int        // guarded by mu: the cost of all that is not written yet
	lost    uint64     // guarded by mu: lines lost since the last report
	seq     uint64     // guarded by mu: of the next line
	closed  bool       // guarded by mu

	// owned by the goroutine
	buf     []byte // whole lines to be written
	cost    int    // of the entries in buf
	weight  uint64 // lines that are lost if buf is
	failure error  // of the last write
	warned  bool
}

// New starts a Writer on out, which it never closes.
func New[T any](out io.Writer, o Options[T]) *Writer[T] {
	w := &Writer[T]{o: o, out: lines{out: out}, done: make(chan struct{}), filling: new(batch[T])}
	w.more = sync.NewCond(&w.mu)
	go w.run()
	return w
}

// Put queues an item. It returns false if there is no room, or the Writer is closed.
func (w *Writer[T]) Put(item T, cost int) bool {
	to, bytes := w.Begin(cost)
	if to == nil {
		return false
	}
	*to = item
	if w.o.Keep != nil {
		w.o.Keep(to, bytes)
	}
	w.End()
	return true
}

// Begin is Put for large items, which are then not copied: it returns the place of the item in the
// queue, with the zero value, and where copies can be kept. The caller sets the item and calls End.
// Between the two the Writer is locked. Begin returns nil if there is no room, or the Writer is
// closed; then End must not be called.
func (w *Writer[T]) Begin(cost int) (*T, *Bytes) {
	if w == nil {
		return nil, nil
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, nil
	}
	if w.waiting+cost > w.o.Limit {
		w.lost++
		w.seq++
		w.mu.Unlock()
		return nil, nil
	}
	if w.lost > 0 {
		w.seq++ // of the report
	}
	e := w.addLocked()
	e.cost = cost
	w.waiting += cost
	return &e.Item, &w.filling.bytes
}

// End queues the item of Begin.
func (w *Writer[T]) End() {
	w.more.Signal()
	w.mu.Unlock()
}

// addLocked adds an entry, which reports what was lost before it. Entries are zero before their
// use.
func (w *Writer[T]) addLocked() *Entry[T] {
	b, n := w.filling, len(w.filling.entries)
	b.entries = slices.Grow(b.entries, 1)[:n+1]
	e := &b.entries[n]
	e.Lost, e.Seq = w.lost, w.seq
	w.lost = 0
	w.seq++
	return e
}

// An OutputError is an error of the output. Options.Warn has got the first one.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the output.
func (e *OutputError) Unwrap() error { return e.Err }

// Close writes what is queued, for at most timeout, and ends the Writer. An error says why the end
// of the output is missing; it wraps an *[OutputError] if the output has failed.
func (w *Writer[T]) Close(timeout time.Duration) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	w.closed = true
	w.more.Signal()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(timeout):
		return fmt.Errorf("%s: the output took no more lines for %v; its end is missing", w.o.Name, timeout)
	}
	if w.failure != nil {
		return fmt.Errorf("%s: its end is missing: %w", w.o.Name, &OutputError{w.failure})
	}
	return nil
}

func (w *Writer[T]) run() {
	defer close(w.done)
	spent := new(batch[T])
	for last := false; !last; {
		spent, last = w.take(spent)
		for i := range spent.entries {
			w.append(&spent.entries[i])
		}
		w.flush()
		spent.reset()
	}
}

// take waits for entries and returns them in exchange for an empty batch. None follow the last
// ones.
func (w *Writer[T]) take(spent *batch[T]) (full *batch[T], last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		// While the output fails, a report would be lost, reported, and lost again.
		if w.lost > 0 && (w.closed || w.o.Report && w.failure == nil) {
			w.addLocked().Empty = true
		}
		if len(w.filling.entries) > 0 || w.closed {
			full, w.filling = w.filling, spent
			return full, w.closed
		}
		w.more.Wait()
	}
}

func (w *Writer[T]) append(e *Entry[T]) {
	w.buf = w.o.Append(w.buf, e)
	w.cost += e.cost
	w.weight += e.Lost
	if !e.Empty {
		w.weight++
	}
	if len(w.buf) >= flushBytes {
		w.flush()
	}
}

// flush writes buf. Lines that the output does not accept are lost, because later lines must not
// wait for them.
func (w *Writer[T]) flush() {
	if w.weight == 0 {
		return
	}
	whole, err := w.out.write(w.buf)
	w.failure = err
	w.mu.Lock()
	w.waiting -= w.cost
	if err != nil {
		w.lost += w.weight - min(w.weight, whole)
	}
	w.mu.Unlock()
	if err != nil && !w.warned && w.o.Warn != nil {
		w.warned = true
		w.o.Warn(fmt.Errorf("%s: %w (nothing else is affected; lines that cannot be written are counted)", w.o.Name, err))
	}
	w.buf, w.cost, w.weight = w.buf[:0], 0, 0
	if cap(w.buf) > keepBytes {
		w.buf = nil
	}
}

// A batch is what callers have queued since the goroutine last took some. Two batches take turns,
// so that steady use allocates nothing.
type batch[T any] struct {
	entries []Entry[T]
	bytes   Bytes
}

// reset empties b, and releases unusually large memory.
func (b *batch[T]) reset() {
	clear(b.entries)
	b.entries, b.bytes = b.entries[:0], b.bytes[:0]
	if cap(b.bytes) > keepBytes || cap(b.entries) > keepEntries {
		*b = batch[T]{}
	}
}

// Bytes holds copies of what items borrow.
type Bytes []byte

// Copy returns a copy of p. Later copies may move b, but not this one.
func (b *Bytes) Copy(p []byte) []byte {
	if p == nil {
		return nil
	}
	start := len(*b)
	*b = append(*b, p...)
	return (*b)[start:len(*b):len(*b)]
}

// lines writes whole lines to an output that may take part of them.
type lines struct {
	out  io.Writer
	torn bool // the output ends within a line
}

var newline = []byte("\n")

// write writes p, which ends with a line. With an error, it returns how many of the lines the
// output has.
func (l *lines) write(p []byte) (whole uint64, err error) {
	if l.torn {
		if _, err := l.out.Write(newline); err != nil {
			return 0, err
		}
		l.torn = false
	}
	n, err := l.out.Write(p)
	n = max(0, min(n, len(p)))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err == nil {
		return 0, nil // nobody asks how many
	}
	l.torn = n > 0 && p[n-1] != '\n'
	return uint64(bytes.Count(p[:n], newline)), err
}

// Text is an io.Writer that queues what is written to it, such as the lines of a log.
type Text struct{ *Writer[[]byte] }

// NewText returns a Text that queues at most limit bytes for out. The result of lost is written
// where lines are missing.
func NewText(out io.Writer, limit int, lost func(lines uint64) string) Text {
	return Text{New(out, Options[[]byte]{
		Name: "log", Limit: limit, Report: true,
		Keep: func(p *[]byte, to *Bytes) { *p = to.Copy(*p) },
		Append: func(dst []byte, e *Entry[[]byte]) []byte {
			if e.Lost > 0 {
				dst = append(dst, lost(e.Lost)...)
			}
			return append(dst, e.Item...)
		},
	})}
}

// Write queues p or drops it. It never fails.
func (t Text) Write(p []byte) (int, error) {
	t.Put(p, len(p))
	return len(p), nil
}
