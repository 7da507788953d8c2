package audit

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"toolman/jsonrpc/asyncwriter"
	"toolman/jsonrpc/trace/redact"
)

// Options configure a Writer. The zero value is usable.
type Options struct {
	Arguments bool             // lines have the arguments, not only their hash
	Scrub     *redact.Scrubber // removes secrets; nil removes none
	Lines     int              // that may wait to be written; 0: 16,384
	Bytes     int              // of arguments that are kept until they are written; 0: 32 MiB
	Warn      func(error)      // gets the first error of the output, on the Writer's goroutine; may be nil
}

// A Writer writes an audit log. Its methods may be called from any goroutine. A nil *Writer does
// nothing.
type Writer struct {
	out       *asyncwriter.Writer[*Decision] // nil: nothing is written
	observer  Observer                       // may be nil
	recorder  Recorder                       // may be nil
	recorded  atomic.Int64                   // bytes of contents that are kept for the recorder
	replica   string                         // of every line; "": there is none
	arguments bool
	scrub     *redact.Scrubber
	maxBytes  int64
	bytes     atomic.Int64 // of arguments that are kept
}

// An Observer is called for decisions when they begin and end, for example to count them. It is
// called on the goroutines of the requests, also concurrently, and must not block. The line is
// valid until the method returns. It has neither the rule nor anything about the arguments.
type Observer interface {
	// Begun is called once for each decision.
	Begun(*Line)
	// Ended is called once for each decision when it is over: outcome and duration are known.
	Ended(*Line)
}

// NewWriter starts a Writer on out, which it never closes.
func NewWriter(out io.Writer, o Options) *Writer {
	w := &Writer{arguments: o.Arguments, scrub: o.Scrub, maxBytes: int64(cmp.Or(o.Bytes, 32<<20))}
	if w.scrub == nil {
		w.scrub = redact.NewScrubber(nil)
	}
	w.out = asyncwriter.New(out, asyncwriter.Options[*Decision]{Name: "audit", Limit: cmp.Or(o.Lines, 16<<10), Append: w.append, Warn: o.Warn})
	return w
}

// Watch adds an Observer to w and returns w. If w is nil, it returns a Writer that calls the
// Observer and writes nothing. It is called at most once, before w is used.
func Watch(w *Writer, by Observer) *Writer {
	if w == nil {
		w = new(Writer)
	}
	w.observer = by
	return w
}

// OfReplica makes the lines of w name a replica of a cluster, and returns w. It is called at most
// once, before w is used.
func OfReplica(w *Writer, id string) *Writer {
	if w != nil {
		w.replica = id
	}
	return w
}

// Close writes the decisions that have ended, for at most timeout. Those that end later are lost.
// An error says that the output took no more; other errors of the output are for Options.Warn.
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

// A Decision is the record of a request until it is answered. It belongs to the goroutine that has
// to answer the request. A nil *Decision, of a request that is not audited, does nothing.
type Decision struct {
	w         *Writer
	line      Line
	came      time.Time
	rule      Rule
	toolsets  func() []string // in use that contain the tool; nil: none
	arguments []byte
	content   *Content // nil: it is not recorded
	over      bool
}

// A Rule returns the text of the rule that led to a verdict. It is called when the line is written,
// on another goroutine.
type Rule func(Verdict) string

// Begin begins a decision about a request that has come at this time. rule may be nil. The
// arguments are copied.
func (w *Writer) Begin(line Line, rule Rule, came time.Time, arguments []byte) *Decision {
	if w == nil {
		return nil
	}
	d := &Decision{w: w, line: line, came: came, rule: rule}
	d.line.Replica = w.replica
	if w.observer != nil {
		w.observer.Begun(&d.line)
	}
	d.record(arguments)
	if n := int64(len(arguments)); n > 0 && w.out != nil {
		if w.bytes.Add(n) <= w.maxBytes {
			d.arguments = bytes.Clone(arguments)
		} else {
			w.bytes.Add(-n)
		}
	}
	return d
}

// Decide changes the verdict.
func (d *Decision) Decide(v Verdict) {
	if d != nil && !d.over {
		d.line.Verdict = v
	}
}

// Asked counts bytes of the request that are sent to its server.
func (d *Decision) Asked(bytes int) {
	if d != nil {
		d.line.RequestBytes += bytes
	}
}

// InUse sets a function that returns the toolsets in use that contain the tool. It is called when
// the line is written, on another goroutine.
func (d *Decision) InUse(toolsets func() []string) {
	if d != nil {
		d.toolsets = toolsets
	}
}

// Verdict returns the latest verdict.
func (d *Decision) Verdict() Verdict { return d.line.Verdict }

// End writes the line. Only the first call counts: an answer may turn out to be undeliverable after
// End.
func (d *Decision) End(how Outcome) {
	if d == nil || d.over {
		return
	}
	d.over = true
	d.line.Outcome = how
	d.line.Time = d.came.UTC().Truncate(time.Microsecond)
	d.line.DurationMS = float64(time.Since(d.came).Microseconds()) / 1000
	if d.w.observer != nil {
		d.w.observer.Ended(&d.line)
	}
	d.recorded()
	if !d.w.out.Put(d, 1) {
		d.release()
	}
}

// release gives up the arguments.
func (d *Decision) release() { d.w.bytes.Add(-int64(len(d.arguments))) }

// append appends a line for the output.
func (w *Writer) append(dst []byte, e *asyncwriter.Entry[*Decision]) []byte {
	d := e.Item
	if e.Empty {
		d = &Decision{w: w, line: Line{Time: time.Now().UTC().Truncate(time.Microsecond), Added: Added{Replica: w.replica}}}
	}
	defer d.release()
	return w.render(dst, d, e.Lost)
}
