package httpd

import (
	"errors"
	"sync"

	"toolman/jsonrpc"
	"toolman/router/budget"
)

// Bounds of how many bytes may wait for a client that reads slowly, or has yet to come for
// them. One message may always wait.
const (
	streamLimit  = 8 << 20
	patientLimit = 1 << 20
	fairLimit    = 32 << 10 // of a client that has used up half of its bytes
)

// A stream is what one response is to carry. Everybody may put something into it, and
// one goroutine writes that (see serve).
type stream struct {
	wake    chan struct{} // something has changed; of capacity 1
	patient bool          // when too much waits, it is what comes then that is lost
	account *budget.Account

	mu      sync.Mutex
	frames  [][]byte  // guarded by mu
	size    int       // guarded by mu: of them, and of those that are being written, in bytes of the account
	answers int       // guarded by mu: how many are still to come; the last one ends the stream
	status  int       // guarded by mu: of the response, if the answer is all there is; 0: none has come
	ended   bool      // guarded by mu: nothing more comes
	slow    bool      // guarded by mu: too much waited
	gone    bool      // guarded by mu: nobody writes it any more
	tail    *detached // guarded by mu: writes it, in the place of a goroutine that waits for wake
}

// newStream makes a stream that ends with so many answers; 0: it ends when end is called. What
// waits in it is counted with an account.
func (e *Endpoint) newStream(answers int, account *budget.Account) *stream {
	return &stream{wake: make(chan struct{}, 1), answers: answers, account: account}
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
	if t.size > 0 && t.size+len(frame) > t.limit() {
		if !t.patient {
			t.slow = true
			t.wakeUp()
		}
		return jsonrpc.ErrQueueFull
	}
	if err := t.account.Take(budget.Bytes, int64(len(frame))); err != nil {
		return err
	}
	t.frames = append(t.frames, frame)
	t.size += len(frame)
	t.wakeUp()
	return nil
}

// limit is how much may wait now.
func (t *stream) limit() int {
	switch {
	case t.account.Scarce(budget.Bytes):
		return fairLimit
	case t.patient:
		return patientLimit
	}
	return streamLimit
}

// shrink counts bytes that wait no more. mu is held.
func (t *stream) shrink(n int) {
	t.size -= n
	t.account.Give(budget.Bytes, int64(n))
}

// answer adds a frame that holds n of the answers.
func (t *stream) answer(frame []byte, n, status int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.putLocked(frame)
	if _, limit := errors.AsType[*budget.LimitError](err); limit {
		t.putErrorsLocked(frame, err)
	}
	t.answers, t.status = t.answers-n, status
	t.ended = t.ended || t.answers <= 0
	return err
}

// putErrorsLocked answers the requests that frame answers, which the account has no room for, with
// errors that say so.
func (t *stream) putErrorsLocked(frame []byte, why error) {
	text := "the server has answered, but " + why.Error() + ". Read the responses to your requests"
	answer := func(dst []byte, at jsonrpc.Span) []byte {
		var m jsonrpc.Message
		if jsonrpc.Scan(frame[at.Lo:at.Hi], &m) != nil { // it was one when it came
			return dst
		}
		return jsonrpc.AppendError(dst, m.Bytes(m.ID), codeInternal, text, nil)
	}
	whole := jsonrpc.Span{Hi: len(frame)}
	var out []byte
	if frame[0] == '[' {
		for at := range jsonrpc.Elements(frame, whole) {
			out = answer(append(out, ','), at)
		}
		out = append(out, ']')
		out[0] = '['
	} else {
		out = answer(nil, whole)
	}
	t.account.Force(budget.Bytes, int64(len(out)))
	t.frames = append(t.frames, out)
	t.size += len(out)
	t.wakeUp()
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
	t.gone, t.frames = true, nil
	t.shrink(t.size)
}

// heard reports whether somebody will hear what is put in.
func (t *stream) heard() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended && !t.gone && !t.slow
}

// wakeUp tells whoever writes the stream that it has changed. mu is held.
func (t *stream) wakeUp() {
	if t.tail != nil {
		t.tail.wakeLocked()
		return
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// A portion is what there is to write.
type portion struct {
	frames [][]byte
	size   int // of the frames
	status int
	ended  bool // nothing comes after it
	slow   bool // the stream is given up
}

func (t *stream) take() portion {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.takeLocked()
}

// isAnswer reports whether the portion is all there will be, and one answer. A request that is
// taken back has none, and what came before may be one message, too.
func (p portion) isAnswer() bool {
	return p.ended && !p.slow && len(p.frames) == 1 && p.status != 0
}

func (t *stream) takeLocked() portion {
	p := portion{t.frames, 0, t.status, t.ended, t.slow}
	for _, frame := range p.frames {
		p.size += len(frame)
	}
	t.frames = nil
	return p
}

// wrote says that a portion is written, or lost with its response.
func (t *stream) wrote(p portion) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.gone {
		t.shrink(p.size)
	}
}
