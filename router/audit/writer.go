package audit

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"toolman/jsonrpc/asyncwriter"
	"toolman/jsonrpc/trace/redact"
)

const (
	defaultLines = 16 << 10
	defaultBytes = 32 << 20
)

// Options configure a Writer. The zero value is usable.
type Options struct {
	Arguments bool             // lines have the arguments, not only their hash
	Scrub     *redact.Scrubber // removes secrets; nil removes none
	Lines     int              // that may wait to be written; 0: 16,384
	Bytes     int              // of arguments that are kept until they are written; 0: 32 MiB
	Warn      func(error)      // gets the first error of the output, on the Writer's goroutine; may be nil
}

// A Writer writes an audit log. Its methods may be called from any goroutine.
type Writer struct {
	out       *asyncwriter.Writer[*Decision] // nil: nothing is written
	observer  Observer                       // may be nil
	arguments bool
	scrub     *redact.Scrubber
	maxBytes  int64
	bytes     atomic.Int64 // of arguments that are kept
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
		o.Scrub = redact.NewScrubber(nil)
	}
	w := &Writer{arguments: o.Arguments, scrub: o.Scrub, maxBytes: int64(o.Bytes)}
	w.out = asyncwriter.New(out, asyncwriter.Options[*Decision]{Name: "audit", Limit: o.Lines, Append: w.append, Warn: o.Warn})
	return w
}

// Close writes the decisions that have ended, for at most timeout. Those that end later are lost. An
// error says that the output took no more; other errors of the output are for Options.Warn.
func (w *Writer) Close(timeout time.Duration) error {
	if w == nil {
		return nil
	}
	err := w.out.Close(timeout)
	if _, warned := errors.AsType[*asyncwriter.OutputError](err); warned {
		return nil
	}
	return err
}

// keep returns a copy of a request's arguments if there is room for it.
func (w *Writer) keep(arguments []byte) []byte {
	n := int64(len(arguments))
	if n == 0 || w.out == nil {
		return nil
	}
	if w.bytes.Add(n) > w.maxBytes {
		w.bytes.Add(-n)
		return nil
	}
	return append([]byte(nil), arguments...)
}

func (w *Writer) write(d *Decision) {
	if !w.out.Put(d, 1) {
		w.release(d)
	}
}

func (w *Writer) release(d *Decision) { w.bytes.Add(-int64(len(d.arguments))) }

func (w *Writer) append(dst []byte, e *asyncwriter.Entry[*Decision]) []byte {
	d := e.Item
	if e.Empty {
		d = &Decision{line: Line{Time: time.Now().UTC().Truncate(time.Microsecond)}}
	}
	defer w.release(d)
	return w.render(dst, d, e.Lost)
}
