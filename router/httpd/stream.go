package httpd

import (
	"errors"
	"sync"

	"toolman/jsonrpc"
	"toolman/router/budget"
)

// Limits of the bytes that wait for a client that reads slowly, or has no stream yet. One message
// may always wait.
const (
	streamLimit = 8 << 20
	pushLimit   = 1 << 20  // of a stream that drops new messages
	fairLimit   = 32 << 10 // of a client that has used half of its bytes
)

// A stream holds the messages that one response carries. Any goroutine may put messages into it,
// without waiting. One goroutine writes them: of a response, or of a hijackedStream.
type stream struct {
	wake     chan struct{} // receives when the stream has changed; of capacity 1
	dropsNew bool          // when too much waits, new messages are dropped, and not the stream
	account  *budget.Account

	mu         sync.Mutex
	frames     [][]byte        // guarded by mu
	size       int             // guarded by mu: bytes that wait or are being written
	answers    int             // guarded by mu: how many are missing; the last one ends the stream
	status     int             // guarded by mu: of an answer that is the whole response; 0: there is none
	ended      bool            // guarded by mu: nothing more comes
	overflowed bool            // guarded by mu: too much waited
	abandoned  bool            // guarded by mu: it is not written any more
	hijacked   *hijackedStream // guarded by mu: writes it, instead of a goroutine that waits for wake
}

// newStream makes a stream that ends with this number of answers, or with end if that is 0.
func (e *Endpoint) newStream(answers int, account *budget.Account) *stream {
	return &stream{wake: make(chan struct{}, 1), answers: answers, account: account}
}

// put adds a frame, which the stream owns from now on. The errors are those of peer.Sender.
func (t *stream) put(frame []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.putLocked(frame)
}

func (t *stream) putLocked(frame []byte) error {
	if t.ended || t.abandoned || t.overflowed {
		return jsonrpc.ErrClosed
	}
	if t.size > 0 && t.size+len(frame) > t.limit() {
		if !t.dropsNew {
			t.overflowed = true
			t.wakeLocked()
		}
		return jsonrpc.ErrQueueFull
	}
	if err := t.account.Take(budget.Bytes, int64(len(frame))); err != nil {
		return err
	}
	t.appendLocked(frame)
	return nil
}

// appendLocked appends a frame whose bytes are counted.
func (t *stream) appendLocked(frame []byte) {
	t.frames = append(t.frames, frame)
	t.size += len(frame)
	t.wakeLocked()
}

// limit returns how many bytes may wait now.
func (t *stream) limit() int {
	switch {
	case t.account.Scarce(budget.Bytes):
		return fairLimit
	case t.dropsNew:
		return pushLimit
	}
	return streamLimit
}

// answer adds a frame with n of the answers.
func (t *stream) answer(frame []byte, n, status int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.putLocked(frame)
	if _, limit := errors.AsType[*budget.LimitError](err); limit {
		errs := errorsFor(frame, "the server has answered, but "+err.Error()+". Read the responses to your requests")
		t.account.Force(budget.Bytes, int64(len(errs)))
		t.appendLocked(errs)
	}
	t.answers, t.status = t.answers-n, status
	t.ended = t.ended || t.answers <= 0
	return err
}

// errorsFor returns errors in place of the answers in a frame, which is a response or a batch.
func errorsFor(frame []byte, why string) (out []byte) {
	answer := func(at jsonrpc.Span) {
		var m jsonrpc.Message
		if jsonrpc.Scan(frame[at.Lo:at.Hi], &m) == nil {
			out = jsonrpc.AppendError(out, m.Bytes(m.ID), codeInternal, why, nil)
		}
	}
	whole := jsonrpc.Span{Hi: len(frame)}
	if frame[0] != '[' {
		answer(whole)
		return out
	}
	for at := range jsonrpc.Elements(frame, whole) {
		out = append(out, ',')
		answer(at)
	}
	out = append(out, ']')
	out[0] = '['
	return out
}

// expectOneLess says that one of the answers will not come.
func (t *stream) expectOneLess() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers--
	t.ended = t.ended || t.answers <= 0
	t.wakeLocked()
}

// end says that nothing more comes.
func (t *stream) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.wakeLocked()
}

// abandon says that the stream is not written any more.
func (t *stream) abandon() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abandoned, t.frames = true, nil
	t.account.Give(budget.Bytes, int64(t.size))
	t.size = 0
}

// resume lets a stream that was abandoned be written again. It reports false if its end was lost,
// or it was not abandoned.
func (t *stream) resume() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	resumes := t.abandoned && !t.ended && !t.overflowed
	if resumes {
		t.abandoned = false
	}
	return resumes
}

// isOpen reports whether messages can be put.
func (t *stream) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended && !t.abandoned && !t.overflowed
}

// wakeLocked tells the goroutine that writes the stream that it has changed.
func (t *stream) wakeLocked() {
	if t.hijacked != nil {
		t.hijacked.wakeLocked()
		return
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// A portion is what there is to write.
type portion struct {
	frames     [][]byte
	size       int // of the frames, in bytes
	status     int
	ended      bool // nothing comes after it
	overflowed bool // the stream is given up
}

// isAnswer reports whether the portion is one answer, and all there will be. (A cancelled request
// has no answer, but there may be one message that came before.)
func (p *portion) isAnswer() bool {
	return p.ended && !p.overflowed && len(p.frames) == 1 && p.status != 0
}

// take returns what there is to write.
func (t *stream) take() portion {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.takeLocked()
}

func (t *stream) takeLocked() portion {
	p := portion{t.frames, 0, t.status, t.ended, t.overflowed}
	for _, frame := range p.frames {
		p.size += len(frame)
	}
	t.frames = nil
	return p
}

// written says that a portion is written, or lost with its response.
func (t *stream) written(p portion) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.abandoned {
		t.size -= p.size
		t.account.Give(budget.Bytes, int64(p.size))
	}
}
