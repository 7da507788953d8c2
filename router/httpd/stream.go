package httpd

import (
	"sync"

	"toolman/jsonrpc"
)

// Bounds of how many bytes may wait for a client that reads slowly, or has yet to come for
// them. One message may always wait.
const (
	streamLimit  = 8 << 20
	patientLimit = 1 << 20
)

// A stream is what one response is to carry. Everybody may put something into it, and
// one goroutine writes that (see serve).
type stream struct {
	wake    chan struct{} // something has changed; of capacity 1
	patient bool          // when too much waits, it is what comes then that is lost

	mu      sync.Mutex
	frames  [][]byte // guarded by mu
	size    int      // guarded by mu: of them, in bytes
	answers int      // guarded by mu: how many are still to come; the last one ends the stream
	status  int      // guarded by mu: of the response, if the answer is all there is
	ended   bool     // guarded by mu: nothing more comes
	slow    bool     // guarded by mu: too much waited
	gone    bool     // guarded by mu: nobody writes it any more
}

// newStream makes a stream that ends with so many answers; 0: it ends when end is called.
func newStream(answers int) *stream {
	return &stream{wake: make(chan struct{}, 1), answers: answers}
}

// put adds a frame, which is the stream's from now on. It fails, as jsonrpc.Sender says,
// when nobody reads it.
func (t *stream) put(frame []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.putLocked(frame)
}

func (t *stream) putLocked(frame []byte) error {
	if t.ended || t.gone || t.slow {
		return jsonrpc.ErrClosed
	}
	switch size := t.size + len(frame); {
	case t.size == 0:
	case t.patient && size > patientLimit:
		return jsonrpc.ErrQueueFull
	case size > streamLimit:
		t.slow = true
		t.wakeUp()
		return jsonrpc.ErrQueueFull
	}
	t.frames, t.size = append(t.frames, frame), t.size+len(frame)
	t.wakeUp()
	return nil
}

// answer adds a frame that holds n of the answers.
func (t *stream) answer(frame []byte, n, status int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.putLocked(frame)
	t.answers, t.status = t.answers-n, status
	t.ended = t.ended || t.answers <= 0
	return err
}

// forgo says that one of the answers will not come.
func (t *stream) forgo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers--
	t.ended = t.ended || t.answers <= 0
	t.wakeUp()
}

// end says that nothing more comes.
func (t *stream) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.wakeUp()
}

// leave says that nobody writes the stream any more.
func (t *stream) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone, t.frames, t.size = true, nil, 0
}

// heard reports whether somebody will hear what is put in.
func (t *stream) heard() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended && !t.gone && !t.slow
}

func (t *stream) wakeUp() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// A portion is what there is to write.
type portion struct {
	frames [][]byte
	status int
	ended  bool // nothing comes after it
	slow   bool // the stream is given up
}

func (t *stream) take() portion {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := portion{t.frames, t.status, t.ended, t.slow}
	t.frames, t.size = nil, 0
	return p
}
