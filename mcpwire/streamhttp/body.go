package streamhttp

import (
	"io"
	"sync"
)

const (
	// firstRead is how much room is made for a body on its sender's word alone. More comes
	// with what has come: who announces much and sends nothing costs little.
	firstRead = 64 << 10
	// spare is room behind a body, for what it may be made longer by.
	spare = 64
	// keepBody is the largest room that is kept for the next body.
	keepBody = 4 << 20
)

// Bodies are room for bodies that come one after another, which is expensive to make anew
// for each. The zero value is ready, and may be used from any goroutine.
type Bodies struct{ free sync.Pool }

// Read reads a body to its end, or to its first error. announced is its length, as far as its
// sender has said one; -1 if not. The text is the caller's, who may Free it.
func (b *Bodies) Read(body io.Reader, announced int64) ([]byte, error) {
	whole := int(min(max(announced, 0), 1<<30)) + spare
	text := b.Room(min(whole, firstRead))
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

// Room returns memory without content, for so many bytes if not for more.
func (b *Bodies) Room(n int) []byte {
	const least = 512
	if free, ok := b.free.Get().(*[]byte); ok && cap(*free) >= n {
		return (*free)[:0]
	}
	return make([]byte, 0, max(least, n))
}

// Free gives back memory that nobody uses any more, wherever it is from.
func (b *Bodies) Free(text []byte) {
	if cap(text) <= keepBody {
		b.free.Put(&text)
	}
}
