package httpbody

import (
	"io"
	"sync"
)

const (
	// firstRead is the most memory that is allocated because of an announced length, so that a
	// sender that announces much and sends nothing costs little.
	firstRead = 64 << 10
	// spare is room behind a body, which edits may make longer.
	spare = 64
	// minSize is the smallest allocation, and maxKept the largest that is kept.
	minSize, maxKept = 512, 4 << 20
)

// A Pool keeps memory for bodies. With it a call of 1 MB over HTTP takes a third less time
// (fixtures/bench, http1m). The zero value is ready for use, from any goroutine.
type Pool struct{ free sync.Pool }

// Read reads a body to its end or to its first error. announced is the length that the sender gave,
// or -1. The caller may Put the text when it is no longer used.
func (p *Pool) Read(body io.Reader, announced int64) ([]byte, error) {
	whole := int(min(max(announced, 0), 1<<30)) + spare
	text := p.Get(min(whole, firstRead))
	for {
		if len(text) == cap(text) {
			room := 4 * cap(text)
			if cap(text) < whole {
				room = min(room, whole)
			}
			text = append(make([]byte, 0, room), text...)
		}
		n, err := body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}

// Get returns an empty slice with a capacity of at least n bytes.
func (p *Pool) Get(n int) []byte {
	if free, ok := p.free.Get().(*[]byte); ok && cap(*free) >= n {
		return (*free)[:0]
	}
	return make([]byte, 0, max(minSize, n))
}

// Put takes memory that is no longer used, of whatever origin.
func (p *Pool) Put(text []byte) {
	if cap(text) <= maxKept {
		p.free.Put(&text)
	}
}
