package trace

import (
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolman/jsonrpc/asyncwriter"
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
	Secrets    []string    // values that must not appear in the trace
	MaxMsg     int         // bytes of a frame that are kept; 0: 64 KiB
	QueueBytes int         // bytes that may wait to be written; 0: 8 MiB
	Warn       func(error) // gets the first error of the output, on the Writer's goroutine; may be nil
}

// A Writer writes a trace. Its methods may be called from any goroutine; on a nil Writer they do nothing.
type Writer struct {
	maxMsg int
	start  time.Time
	out    *asyncwriter.Writer[entry]
	scrubs atomic.Pointer[patterns]

	mu      sync.Mutex
	secrets secrets // guarded by mu

	render renderer // owned by out
}

// An entry is one line on its way to the goroutine that renders it.
type entry struct {
	at      time.Time
	session *Session // of the first line
	event   string   // of an event
	text    string   // of an event
	cut     bool     // text is the start of a longer one
	frame   Frame    // of an event: Peer and Call
	size    int      // of the whole frame
	idCut   bool     // frame.ID is the start of a longer one
	scrubs  *patterns
}

// NewWriter starts a Writer on out, which it never closes, and writes the session line.
func NewWriter(out io.Writer, o Options) *Writer {
	if o.MaxMsg <= 0 {
		o.MaxMsg = defaultMaxMsg
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = defaultQueue
	}
	w := &Writer{maxMsg: o.MaxMsg, start: time.Now(), secrets: secrets{lasting: slices.Clone(o.Secrets)}, render: renderer{maxMsg: o.MaxMsg}}
	w.scrubs.Store(w.secrets.patterns())
	w.out = asyncwriter.New(out, asyncwriter.Options[entry]{
		Name: "trace", Limit: o.QueueBytes, Append: w.append, Keep: w.keep, Report: true, Warn: o.Warn})
	w.out.Put(entry{session: &o.Session}, 0)
	return w
}

// Frame records f, of which it keeps copies only. It never blocks: without room in the queue the frame is
// dropped and counted.
func (w *Writer) Frame(f *Frame) {
	if w == nil {
		return
	}
	e := entry{frame: *f, size: len(f.Msg)}
	e.frame.Msg = f.Msg[:min(len(f.Msg), w.maxMsg)]
	e.frame.ID, e.idCut = f.ID[:min(len(f.ID), maxID)], len(f.ID) > maxID
	w.out.Put(e, entryBytes+len(e.frame.Msg)+len(e.frame.ID)+len(f.Peer)+len(f.Method)+len(f.Name))
}

// Event records e and never blocks, as Frame.
func (w *Writer) Event(e Event) {
	if w == nil {
		return
	}
	w.out.Put(entry{event: e.Event, text: e.Text, cut: e.Cut, frame: Frame{Peer: e.Peer, Call: e.Call}}, entryBytes+len(e.Text)+len(e.Peer))
}

// keep completes an entry. It uses the secrets of this moment: those of a session may be gone when the
// entry is rendered.
func (w *Writer) keep(e *entry, to *asyncwriter.Bytes) {
	e.at, e.scrubs = time.Now(), w.scrubs.Load()
	e.frame.ID, e.frame.Msg = to.Copy(e.frame.ID), to.Copy(e.frame.Msg)
}

func (w *Writer) append(dst []byte, e *asyncwriter.Entry[entry]) []byte {
	if e.Lost > 0 {
		drop, seq := entry{at: e.Item.at, event: EventDrop}, e.Seq-1
		if e.Empty {
			drop.at, seq = time.Now(), e.Seq
		}
		dst = w.render.entry(dst, &drop, seq, drop.at.Sub(w.start), e.Lost)
	}
	if e.Empty {
		return dst
	}
	w.render.use(e.Item.scrubs)
	return w.render.entry(dst, &e.Item, e.Seq, e.Item.at.Sub(w.start), 0)
}

// AddSecrets adds values that must not appear. It holds for every frame and event given to the Writer after
// it returns.
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

// LendSecrets adds values that must not appear in frames and events given to the Writer after it returns,
// until back is called, once.
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

// Close writes what is queued, for at most timeout, and ends the Writer. An error says why the end of the
// trace is missing. Later frames and events are ignored.
func (w *Writer) Close(timeout time.Duration) error {
	if w == nil {
		return nil
	}
	return w.out.Close(timeout)
}
