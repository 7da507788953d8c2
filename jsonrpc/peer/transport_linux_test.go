package peer

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

var ofThisSystem = []transport{
	{"loop, pipe2", func(t testing.TB, loop *Loop, o Options) link {
		in, w := pipeIn(t)
		r, out := pipeOut(t)
		return loopLink(t, loop, in, out, w, r, o)
	}},
	{"loop, socket pairs", func(t testing.TB, loop *Loop, o Options) link {
		in, w := socketPair(t, unix.SOCK_STREAM)
		out, r := socketPair(t, unix.SOCK_STREAM)
		return loopLink(t, loop, in, out, w, r, o)
	}},
	// A pipe one way, a socket the other, as a shell may arrange it.
	{"loop, a pipe and a socket", func(t testing.TB, loop *Loop, o Options) link {
		in, w := pipeIn(t)
		out, r := socketPair(t, unix.SOCK_STREAM)
		return loopLink(t, loop, in, out, w, r, o)
	}},
}

// Our ends are unknown to Go's poller, as those of spawned processes are; the far ends are in it,
// so that tests do not wait in system calls.

func pipeIn(t testing.TB) (in, w *os.File) {
	t.Helper()
	fds := pipe2(t)
	return os.NewFile(uintptr(fds[0]), "in"), polled(t, fds[1])
}

func pipeOut(t testing.TB) (r, out *os.File) {
	t.Helper()
	fds := pipe2(t)
	return polled(t, fds[0]), os.NewFile(uintptr(fds[1]), "out")
}

func socketPair(t testing.TB, kind int) (ours, far *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fds[0]), "socket"), polled(t, fds[1])
}

func pipe2(t testing.TB) (fds [2]int) {
	t.Helper()
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return fds
}

func polled(t testing.TB, fd int) *os.File {
	t.Helper()
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "far end")
}
