package peer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolman/jsonrpc"
)

// A packet socket keeps apart what was written apart.
func TestLoopWritesOnceForWhatCameInOneRead(t *testing.T) {
	loop := newLoop(t)
	in, w := socketPair(t, unix.SOCK_SEQPACKET)
	out, r := socketPair(t, unix.SOCK_SEQPACKET)
	l := loopLink(t, loop, in, out, w, r, Options{})
	defer l.Close()
	l.Start(newJournal(func(m *jsonrpc.Message, b *Outgoing) { b.Send(l.Peer, m.Frame) }))
	buf := make([]byte, 64<<10)
	for range 20 {
		l.say(t, notes(0, 100))
		if n, err := r.Read(buf); err != nil || string(buf[:n]) != notes(0, 100) {
			t.Fatalf("the first write had %d bytes, want %d (%v)", n, len(notes(0, 100)), err)
		}
	}
}

// openPTY returns the two ends of a raw pseudo-terminal.
func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	mode, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	mode.Iflag, mode.Oflag, mode.Lflag = 0, 0, 0
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, mode); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

func TestLoopPeerOnATerminal(t *testing.T) {
	master, slave := openPTY(t)
	again, err := os.OpenFile(slave.Name(), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := loopLink(t, newLoop(t), slave, again, master, master, Options{})
	defer l.Close()
	j := newJournal(func(m *jsonrpc.Message, out *Outgoing) { out.Send(l.Peer, m.Frame) })
	l.Start(j)
	go l.say(t, notes(0, 500)) // more than a terminal holds
	for i, line := range l.lines(t, 500) {
		if line != note(i) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
	master.Close()
	if err := j.closed(t); err == nil || errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("the cause is %v, want that the terminal is gone", err)
	}
}

// The event that says that the pipe takes more comes before the peer starts.
func TestLoopPeerWritesOnWhatItsPipeTookBeforeItStarted(t *testing.T) {
	loop := newLoop(t)
	in, w := pipeIn(t)
	r, out := pipeOut(t)
	l := loopLink(t, loop, in, out, w, r, Options{})
	defer l.Close()
	sent := 0
	for l.Waiting() < 1<<20 {
		if err := l.Send(make([]byte, 1<<10)); err != nil {
			t.Fatal(err)
		}
		sent += 1<<10 + 1
	}
	rest := l.Waiting()
	if _, err := io.ReadFull(r, make([]byte, sent-rest)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond) // for the loop to see that
	l.Start(newJournal(nil))
	if _, err := io.ReadFull(r, make([]byte, rest)); err != nil {
		t.Error(err)
	}
}

// A shared socket keeps its mode: our parent may be using it too.
func TestLoopLeavesTheModeOfASocketAlone(t *testing.T) {
	in, w := socketPair(t, unix.SOCK_STREAM)
	r, out := pipeOut(t)
	fd := int(in.Fd())
	l := loopLink(t, newLoop(t), in, out, w, r, Options{})
	defer l.Close()
	l.Start(newJournal(func(m *jsonrpc.Message, b *Outgoing) { b.Send(l.Peer, m.Frame) }))
	l.say(t, note(1)+"\n")
	l.lines(t, 1)
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("the flags of the socket are %#x, %v", flags, err)
	}
}

// A socket that somebody else has open too stays in an epoll set when it is closed.
func TestLoopForgetsASharedSocketThatItClosed(t *testing.T) {
	loop := newLoop(t)
	in, w := socketPair(t, unix.SOCK_STREAM)
	out, r := socketPair(t, unix.SOCK_STREAM)
	for _, f := range []*os.File{in, out} {
		again, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(again)
	}
	l := loopLink(t, loop, in, out, w, r, Options{})
	j := newJournal(nil)
	l.Start(j)
	for l.Waiting() == 0 {
		if err := l.Send(make([]byte, 100_000)); err != nil {
			t.Fatal(err)
		}
	}
	watched := func() int {
		info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", loop.epoll))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(info), "tfd:")
	}
	eventually(t, "the loop watches its own descriptor, in and out", func() bool { return watched() == 3 })
	l.Close()
	j.closed(t)
	eventually(t, "the loop watches its own descriptor only", func() bool { return watched() == 1 })
}

func TestLoopPeerNeedsTwoDescriptors(t *testing.T) {
	a, b := socketPair(t, unix.SOCK_STREAM)
	defer a.Close()
	defer b.Close()
	if _, err := newLoop(t).Peer(a, a, Options{}); err == nil {
		t.Error("one descriptor was taken for both directions")
	}
}

func TestLoopPeerReportsAFileItCannotWaitFor(t *testing.T) {
	in, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	r, out := pipeOut(t)
	defer r.Close()
	p, err := newLoop(t).Peer(in, out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	j := newJournal(nil)
	p.Start(j)
	if err := j.closed(t); !errors.Is(err, unix.EPERM) {
		t.Errorf("the cause is %v", err)
	}
}

// A handler that panics ends the process: what it left half done is worse.
func TestLoopDoesNotHideAPanic(t *testing.T) {
	if os.Getenv("JSONRPC_TEST_PANIC") != "" {
		in, w := pipeIn(t)
		r, out := pipeOut(t)
		l := loopLink(t, newLoop(t), in, out, w, r, Options{})
		l.Start(newJournal(func(*jsonrpc.Message, *Outgoing) { panic("on purpose") }))
		l.say(t, note(1)+"\n")
		select {}
	}
	said, err := rerun(t, "JSONRPC_TEST_PANIC=1")
	if err == nil || !strings.Contains(said, "panic: on purpose") || !strings.Contains(said, "(*Peer).deliver") {
		t.Errorf("ended with %v, saying %.300s", err, said)
	}
}

func TestLoopAndStreamPeersLeakNothing(t *testing.T) {
	round := func() {
		loop, err := NewLoop()
		if err != nil {
			t.Fatal(err)
		}
		var all []link
		for i, tr := range append(portable, ofThisSystem...) {
			for way := range 4 {
				l := tr.open(t, loop, Options{})
				all = append(all, l)
				j := newJournal(func(m *jsonrpc.Message, out *Outgoing) { out.Send(l.Peer, m.Frame) })
				if way == 0 { // never started
					continue
				}
				l.Start(j)
				l.say(t, note(i)+"\n")
				l.lines(t, 1)
				switch way {
				case 1:
					l.w.Close()
					j.closed(t)
				case 2:
					l.CloseWrite()
				case 3:
					for l.Send(make([]byte, 100_000)) == nil && l.Waiting() < 1<<20 {
					}
				}
			}
		}
		for _, l := range all {
			l.Close()
			l.w.Close()
			l.r.Close()
		}
		loop.Close()
	}
	round() // what the runtime opens for itself is open now
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range 5 {
		round()
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "no descriptor is left", func() bool { return len(descriptors(t)) <= len(files) })
}

func descriptors(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A peer that is closed after its loop must not write to whoever has got the loop's descriptors
// since.
func TestLoopWakesNobodyElseWhenItIsOver(t *testing.T) {
	loop, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	in, w := pipeIn(t)
	r, out := pipeOut(t)
	l := loopLink(t, loop, in, out, w, r, Options{})
	l.Start(newJournal(nil))
	epoll, wake := loop.epoll, loop.wake
	loop.Close()
	var heirs []*os.File
	taken := map[int]bool{}
	for !taken[epoll] || !taken[wake] {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		heirs = append(heirs, f)
		taken[int(f.Fd())] = true
	}
	for l.Waiting() == 0 {
		if err := l.Send(make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	l.CloseWrite()
	l.Close()
	loop.Close()
	for _, f := range heirs {
		if st, err := f.Stat(); err != nil || st.Size() != 0 {
			t.Errorf("%d bytes were written to another file", st.Size())
		}
	}
	for _, f := range []io.Closer{in, out, w, r} {
		f.Close()
	}
}

func TestOnlyABusyLoopNeedsTwoProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	loop := newLoop(t)
	in, w := socketPair(t, unix.SOCK_SEQPACKET)
	out, r := socketPair(t, unix.SOCK_SEQPACKET)
	l := loopLink(t, loop, in, out, w, r, Options{})
	defer l.Close()
	l.Start(newJournal(func(m *jsonrpc.Message, b *Outgoing) { b.Send(l.Peer, m.Frame) }))
	buf := make([]byte, 1<<10)
	for round := range busyAfter + 1 {
		l.say(t, notes(0, 1))
		if _, err := r.Read(buf); err != nil {
			t.Fatal(err)
		}
		if n := runtime.GOMAXPROCS(0); round < busyAfter/2 && n != 1 {
			t.Fatalf("after %d rounds there are %d, want 1", round, n)
		}
	}
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("for a busy loop there are %d, want 2", n)
	}
}

func TestALoopWithManyPeersNeedsTwoProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	loop := newLoop(t)
	for n := range busyPeers {
		if got := runtime.GOMAXPROCS(0); got != 1 {
			t.Errorf("with %d peers there are %d, want 1", n, got)
		}
		in, w := socketPair(t, unix.SOCK_STREAM)
		out, r := socketPair(t, unix.SOCK_STREAM)
		defer loopLink(t, loop, in, out, w, r, Options{}).Close()
	}
	if got := runtime.GOMAXPROCS(0); got != 2 {
		t.Errorf("with %d peers there are %d, want 2", busyPeers, got)
	}
}
