//go:build !windows

package peer

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"toolman/jsonrpc"
)

// late is a stream whose first read begins late, as on a busy machine.
type late struct {
	*os.File
	reads int
}

func (l *late) Read(p []byte) (int, error) {
	if l.reads++; l.reads == 1 {
		time.Sleep(2 * lingerTimeout)
	}
	return l.File.Read(p)
}

// What is in the pipe when writing fails is read also if the reader is late.
func TestStreamPeerReadsLastWordsLate(t *testing.T) {
	in, w := osPipe(t)
	r, out := osPipe(t)
	p := NewStream(&late{File: in}, out, Options{})
	defer p.Close()
	defer w.Close()
	r.Close()
	p.Send([]byte("are you there"))
	if _, err := io.WriteString(w, note(1)+"\n"); err != nil {
		t.Fatal(err)
	}
	j := newJournal(nil)
	p.Start(j)
	if err := j.closed(t); err == nil || errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("the cause is %v, want why writing failed", err)
	}
	if got := j.wait(t, 1); !slices.Equal(got, []string{note(1), "closed"}) {
		t.Errorf("got %q", got)
	}
}
