package trace

import "time"

const (
	entryBytes = 512 // what an entry costs beside the bytes and strings it holds
	maxID      = 1 << 10
)

// An entry is one line on its way to the Writer's goroutine.
type entry struct {
	seq     uint64
	at      time.Time
	cost    int
	lost    uint64 // of a drop event: the lines it reports
	isEvent bool
	event   string    // of an event
	text    string    // of an event
	cut     bool      // text goes on
	frame   Frame     // of an event: Peer and Call; its bytes and paths lie in the batch
	size    int       // of the whole frame
	idCut   bool      // frame.ID is not all of it
	scrubs  *patterns // the secrets when it came: those of a session may have left since
}

// A batch is what producers have queued since the goroutine last took some. Two of them change places for ever, so that
// a trace in steady use allocates nothing.
type batch struct {
	entries []entry
	bytes   []byte
	paths   []string
}

func (b *batch) add(e *entry) {
	e.frame.ID = b.copy(e.frame.ID)
	e.frame.Msg = b.copy(e.frame.Msg)
	lo := len(b.paths)
	b.paths = append(b.paths, e.frame.Rewrote...)
	e.frame.Rewrote = b.paths[lo:len(b.paths):len(b.paths)]
	b.entries = append(b.entries, *e)
}

// copy keeps p. A later append may move b.bytes; the slice returned stays with the array it was made on.
func (b *batch) copy(p []byte) []byte {
	if p == nil {
		return nil
	}
	lo := len(b.bytes)
	b.bytes = append(b.bytes, p...)
	return b.bytes[lo:len(b.bytes):len(b.bytes)]
}

// reset empties b, lets go of the strings it held, and of more memory than the usual.
func (b *batch) reset() {
	clear(b.entries)
	clear(b.paths)
	b.entries, b.bytes, b.paths = b.entries[:0], b.bytes[:0], b.paths[:0]
	if cap(b.bytes) > keepBytes || cap(b.entries) > keepBytes/entryBytes {
		*b = batch{}
	}
}

// Frame records f, of which it keeps copies only, and never blocks: without room in the queue the frame is counted and dropped.
func (w *Writer) Frame(f *Frame) {
	if w == nil {
		return
	}
	e := entry{frame: *f, size: len(f.Msg)}
	e.frame.Msg = f.Msg[:min(len(f.Msg), w.opts.MaxMsg)]
	e.frame.ID, e.idCut = f.ID[:min(len(f.ID), maxID)], len(f.ID) > maxID
	e.cost = entryBytes + len(e.frame.Msg) + len(e.frame.ID) + len(f.Peer) + len(f.Method) + len(f.Name)
	w.enqueue(&e)
}

// Event records e and never blocks, as Frame.
func (w *Writer) Event(e Event) {
	if w == nil {
		return
	}
	w.enqueue(&entry{
		isEvent: true, event: e.Event, text: e.Text, cut: e.Cut, frame: Frame{Peer: e.Peer, Call: e.Call},
		cost: entryBytes + len(e.Text) + len(e.Peer),
	})
}

func (w *Writer) enqueue(e *entry) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	if w.pending+e.cost > w.opts.QueueBytes {
		w.lost++
		w.seq++
		w.mu.Unlock()
		return
	}
	w.reportLostLocked()
	w.addLocked(e)
	w.mu.Unlock()
	w.signal()
}

func (w *Writer) addLocked(e *entry) {
	e.seq, e.at, e.scrubs = w.seq, time.Now(), w.scrubs.Load()
	w.seq++
	w.pending += e.cost
	w.filling.add(e)
}

// reportLostLocked queues the drop event, which so stands where the lost lines would.
func (w *Writer) reportLostLocked() {
	if w.lost == 0 {
		return
	}
	w.addLocked(&entry{isEvent: true, event: EventDrop, lost: w.lost, cost: entryBytes})
	w.lost = 0
}

// signal wakes the goroutine. A token that is already there will do.
func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take waits for something to write and hands it over in exchange for an empty batch; last says that nothing can follow.
func (w *Writer) take(spent *batch) (full *batch, last bool) {
	for {
		w.mu.Lock()
		if w.failure == nil || w.closed { // else a drop event would be lost, reported, and lost again
			w.reportLostLocked()
		}
		if len(w.filling.entries) > 0 || w.closed {
			full, w.filling = w.filling, spent
			last = w.closed
			w.mu.Unlock()
			return full, last
		}
		w.mu.Unlock()
		<-w.wake
	}
}

// release gives room in the queue back, and counts lines that could not be written.
func (w *Writer) release(bytes int, lost uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending -= bytes
	w.lost += lost
}
