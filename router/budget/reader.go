package budget

import (
	"io"
	"sync"
)

// A Reader reads the body of a request. Until Close, the bytes that it has read count against an account.
// Its methods except Read are safe for use by many goroutines.
type Reader struct {
	from    io.Reader
	account *Account

	mu     sync.Mutex
	n      int64 // guarded by mu
	closed bool  // guarded by mu
}

// Reader returns a Reader for a body. The error of its Read is a *LimitError when the account is
// full.
func (a *Account) Reader(from io.Reader) *Reader { return &Reader{from: from, account: a} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if n > 0 {
		full := r.Take(n)
		if full != nil && r.account.EndIdlest() { // the session held some
			full = r.Take(n)
		}
		if full != nil {
			return 0, full
		}
	}
	return n, err
}

// Take counts n more bytes that are kept for the request. The error is a *LimitError. A nil Reader
// counts nothing.
func (r *Reader) Take(n int) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if err := r.account.Take(Bytes, int64(n)); err != nil {
		return err
	}
	r.n += int64(n)
	return nil
}

// Give is the reverse of Take.
func (r *Reader) Give(n int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.n -= int64(n)
		r.account.Give(Bytes, int64(n))
	}
}

// Detach returns the number of bytes that are counted. The caller has to give them back.
func (r *Reader) Detach() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.n
	r.n = 0
	return n
}

// Close gives back all bytes. Later bytes are not counted.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.account.Give(Bytes, r.n)
	r.n, r.closed = 0, true
}
