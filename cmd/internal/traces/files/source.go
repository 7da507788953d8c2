package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Poll is how often a file that grows is read.
const Poll = 100 * time.Millisecond

// Follow returns the content of a file that grows, until ctx is done. It reads the file that often.
func Follow(ctx context.Context, path string, every time.Duration) io.ReadCloser {
	return &tail{ctx: ctx, path: path, every: every}
}

// Interruptible returns r, which ends when ctx is done, even while a read of r blocks.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.Close() })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}

// A tail reads a file that grows. It waits at the end of the file, or for a file that does not
// exist yet, and starts again if the file was truncated or replaced. It ends when ctx is done.
type tail struct {
	ctx   context.Context
	path  string
	every time.Duration
	file  *os.File
	at    int64
	torn  bool // the last byte read ended no line
}

func (t *tail) Read(p []byte) (int, error) {
	for {
		n, err := t.more(p)
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-t.ctx.Done():
			return 0, io.EOF
		case <-time.After(t.every):
		}
	}
}

// more reads what there is now, which may be nothing.
func (t *tail) more(p []byte) (int, error) {
	if t.ctx.Err() != nil {
		return 0, io.EOF
	}
	if t.file == nil {
		return 0, t.open()
	}
	n, err := t.file.ReadAt(p, t.at)
	if n > 0 {
		t.at += int64(n)
		t.torn = p[n-1] != '\n'
		return n, nil
	}
	if err == io.EOF && t.replaced() {
		t.Close()
		t.at = 0
		if t.torn { // what was read of a line is all there will be
			t.torn = false
			p[0] = '\n'
			return 1, nil
		}
		return 0, nil
	}
	if err == io.EOF {
		err = nil
	}
	return 0, err
}

// open opens the file if it is there.
func (t *tail) open() error {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	t.file = f
	return err
}

// replaced reports whether the file was emptied, or is another one now.
func (t *tail) replaced() bool {
	mine, err := t.file.Stat()
	if err != nil || mine.Size() < t.at {
		return true
	}
	now, err := os.Stat(t.path)
	return err == nil && !os.SameFile(mine, now)
}

// Close closes the file.
func (t *tail) Close() error {
	file := t.file
	t.file = nil
	return file.Close() // of a nil file this is an error
}
