package peer

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"toolman/jsonrpc"
)

// connected returns a peer at one end of a connection over a Unix socket, and the other end.
func connected(t *testing.T, loop *Loop, o Options) (*Peer, *net.UnixConn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "jsonrpc") // the test's own folder may be too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, "s")}
	l, err := net.ListenUnix("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err := net.DialUnix("unix", nil, at)
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	p, err := loop.Connection(ours, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); far.Close() })
	return p, far
}

// What was asked before the writing ended is answered after it.
func TestAConnectionIsReadWhenItsWritingHasEnded(t *testing.T) {
	p, far := connected(t, newLoop(t), Options{})
	j := newJournal(nil)
	p.Start(j)
	asked := bytesOf(3 << 20) // more than a socket takes at once
	if err := p.Send(asked); err != nil {
		t.Fatal(err)
	}
	p.CloseWrite()
	got, err := io.ReadAll(far)
	if err != nil || string(got) != string(asked)+"\n" {
		t.Fatalf("%d bytes came before the end, want %d (%v)", len(got), len(asked)+1, err)
	}
	if _, err := io.WriteString(far, note(1)+"\n"); err != nil {
		t.Fatal(err)
	}
	far.Close()
	if got := j.wait(t, 1)[0]; got != note(1) {
		t.Errorf("got %s", got)
	}
	if err := j.closed(t); err != io.EOF {
		t.Errorf("the cause is %v", err)
	}
}

// bytesOf is a frame of n bytes.
func bytesOf(n int) []byte {
	frame := make([]byte, n)
	for i := range frame {
		frame[i] = 'x'
	}
	return frame
}

func TestAConnectionThatIsClosedEndsTheFarEnd(t *testing.T) {
	p, far := connected(t, newLoop(t), Options{})
	j := newJournal(func(m *jsonrpc.Message, out *Outgoing) { out.Send(p, m.Frame) })
	p.Start(j)
	if _, err := io.WriteString(far, note(1)+"\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(far)
	if line, err := lines.ReadString('\n'); line != note(1)+"\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	p.Close()
	if _, err := lines.ReadString('\n'); err != io.EOF {
		t.Errorf("the far end reads %v", err)
	}
	if err := j.closed(t); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("the cause is %v", err)
	}
}

// A far end that goes while much waits for it is noticed.
func TestAConnectionWhoseFarEndGoesIsOver(t *testing.T) {
	p, far := connected(t, newLoop(t), Options{})
	j := newJournal(nil)
	p.Start(j)
	for p.Waiting() == 0 {
		if err := p.Send(bytesOf(100_000)); err != nil {
			t.Fatal(err)
		}
	}
	far.Close()
	if err := j.closed(t); err == nil || errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("the cause is %v", err)
	}
}

func TestConnectionsLeakNothing(t *testing.T) {
	loop := newLoop(t)
	round := func(end func(p *Peer, far net.Conn)) {
		p, far := connected(t, loop, Options{})
		j := newJournal(nil)
		p.Start(j)
		end(p, far)
		j.closed(t)
		p.Close()
		far.Close()
	}
	ours := func(p *Peer, _ net.Conn) { p.Close() }
	theirs := func(_ *Peer, far net.Conn) { far.Close() }
	half := func(p *Peer, far net.Conn) {
		p.CloseWrite()
		io.Copy(io.Discard, far)
		far.Close()
	}
	round(ours)
	before := openFiles(t)
	goroutines := runtime.NumGoroutine()
	for range 5 {
		round(ours)
		round(theirs)
		round(half)
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "no descriptor is left", func() bool { return openFiles(t) <= before })
}

// openFiles is how many descriptors the process has open; 0 where that cannot be seen.
func openFiles(t *testing.T) int {
	t.Helper()
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
