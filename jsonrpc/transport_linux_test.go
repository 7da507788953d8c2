package jsonrpc

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

var ofThisSystem = []transport{
	{"loop, pipe2", func(t testing.TB, loop *Loop, o PeerOptions) link {
		in, w := blockingPipe(t)
		r, out := blockingPipe(t)
		return loopLink(t, loop, in, out, w, r, o)
	}},
	{"loop, socket pairs", func(t testing.TB, loop *Loop, o PeerOptions) link {
		in, w := socketPair(t, unix.SOCK_STREAM)
		r, out := socketPair(t, unix.SOCK_STREAM)
		return loopLink(t, loop, in, out, w, r, o)
	}},
	// A pipe one way, a socket the other, as a shell may arrange it.
	{"loop, a pipe and a socket", func(t testing.TB, loop *Loop, o PeerOptions) link {
		in, w := blockingPipe(t)
		r, out := socketPair(t, unix.SOCK_STREAM)
		return loopLink(t, loop, in, out, w, r, o)
	}},
}

// blockingPipe is a pipe that Go's poller does not know.
func blockingPipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe")
}

// socketPair is a pair of sockets; Go's poller knows the second of them.
func socketPair(t testing.TB, kind int) (a, b *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fds[1], true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket")
}
