package trace

import (
	"io"
	"os"
	"time"

	"toolman/jsonrpc/asyncwriter"
	"toolman/jsonrpc/trace/redact"
)

const (
	defaultMaxMsg = 64 << 10
	defaultQueue  = 8 << 20
	entryBytes    = 512 // what an entry costs beside the bytes and strings it holds
	maxID         = 1 << 10
)

// Options configure a Writer. The zero value is usable.
type Options struct {
	Session    Session
	Secrets    *redact.Secrets // values that must not appear in the trace; nil: none
	MaxMsg     int             // bytes of a frame that are kept; 0: 64 KiB
	QueueBytes int             // bytes that may wait to be written; 0: 8 MiB
	Warn       func(error)     // gets the first error of the output, on the Writer's goroutine; may be nil
}

// A Writer writes a trace. Its methods may be called from any goroutine; on a nil Writer they do
// nothing.
type Writer struct {
	maxMsg  int
	start   time.Time
	secrets *redact.Secrets
	out     *asyncwriter.Writer[entry]
	render  renderer // owned by out's goroutine
}

// An entry is one line on its way to the goroutine that renders it.
type entry struct {
	frame   Frame  // of an event: At, Peer and Call, and what its Debugged has
	other   *other // of a line that is not a frame
	idCut   bool   // frame.ID is the start of a longer one
	secrets *redact.Patterns
}

// An other is what a line has that is not a frame.
type other struct {
	session *Session // of the first line
	event   string   // of an event
	text    string   // of an event
	cut     bool     // text is the start of a longer one
	hold    uint64   // of a Debugged
	done    string   // of a Debugged
}

// NewWriter starts a Writer on out, which it never closes, and writes the session line.
func NewWriter(out io.Writer, o Options) *Writer {
	if o.MaxMsg <= 0 {
		o.MaxMsg = defaultMaxMsg
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = defaultQueue
	}
	if o.Secrets == nil {
		o.Secrets = redact.NewSecrets()
	}
	w := &Writer{maxMsg: o.MaxMsg, start: time.Now(), secrets: o.Secrets, render: renderer{maxMsg: o.MaxMsg}}
	w.out = asyncwriter.New(out, asyncwriter.Options[entry]{
		Name: "trace", Limit: o.QueueBytes, Append: w.append, Report: true, Warn: o.Warn})
	if e, to := w.out.Begin(0); e != nil {
		e.other = &other{session: &o.Session}
		w.end(e, to)
	}
	return w
}

// Frame records f, of which it keeps copies only. It never blocks: without room in the queue the
// frame is dropped and counted.
func (w *Writer) Frame(f *Frame) {
	if w == nil {
		return
	}
	size := entryBytes + min(len(f.Msg), w.maxMsg) + min(len(f.ID), maxID) + len(f.Peer) + len(f.Method) + len(f.Name)
	if e, to := w.out.Begin(size); e != nil {
		e.frame = *f
		w.end(e, to)
	}
}

// Event records e and never blocks, as Frame.
func (w *Writer) Event(e Event) {
	if w == nil {
		return
	}
	line := &other{event: e.Event, text: e.Text, cut: e.Cut}
	f := Frame{At: e.At, Peer: e.Peer, Call: e.Call}
	size := entryBytes + len(e.Text) + len(e.Peer)
	if d := e.Debugged; d != nil {
		line.hold, line.done = d.Hold, d.Done
		f.Leg, f.Dir, f.Kind, f.Method, f.Name, f.LegTime = d.Leg, d.Dir, d.Kind, d.Method, d.Name, d.Held
		f.ID, f.Msg = d.ID, d.Msg
		size += min(len(d.ID), maxID) + min(len(d.Msg), w.maxMsg) + len(d.Method) + len(d.Name)
	}
	if e, to := w.out.Begin(size); e != nil {
		e.frame, e.other = f, line
		w.end(e, to)
	}
}

// end completes an entry with copies of what it borrows, and queues it. It uses the secrets of this
// moment: those of a session may be gone when the entry is rendered.
func (w *Writer) end(e *entry, to *asyncwriter.Bytes) {
	f := &e.frame
	if e.secrets = w.secrets.Patterns(); f.At.IsZero() {
		f.At = time.Now()
	}
	f.Size, e.idCut = max(f.Size, len(f.Msg)), len(f.ID) > maxID
	f.ID = to.Copy(f.ID[:min(len(f.ID), maxID)])
	f.Msg = to.Copy(f.Msg[:min(len(f.Msg), w.maxMsg)])
	w.out.End()
}

func (w *Writer) append(dst []byte, e *asyncwriter.Entry[entry]) []byte {
	if e.Lost > 0 {
		at, seq := e.Item.frame.At, e.Seq-1
		if e.Empty {
			at, seq = time.Now(), e.Seq
		}
		drop := entry{frame: Frame{At: at}, other: &other{event: EventDrop}}
		dst = w.render.entry(dst, &drop, seq, at.Sub(w.start), e.Lost)
	}
	if e.Empty {
		return dst
	}
	w.render.redactor.Patterns = e.Item.secrets
	return w.render.entry(dst, &e.Item, e.Seq, e.Item.frame.At.Sub(w.start), 0)
}

// Close writes what is queued, for at most timeout, and ends the Writer. An error says why the end
// of the trace is missing. Later frames and events are ignored.
func (w *Writer) Close(timeout time.Duration) error {
	if w == nil {
		return nil
	}
	return w.out.Close(timeout)
}

// Open opens a file to append lines to it, and creates it, readable only by its owner, if
// necessary. Several programs may append to it at the same time. Open ends a last line that has no
// line end.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if torn(f) {
		if _, err := f.WriteString("\n"); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// torn reports whether f is a regular file that ends within a line.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return (err == nil || err == io.EOF) && last[0] != '\n'
}
