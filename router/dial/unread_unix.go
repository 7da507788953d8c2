//go:build unix

package dial

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread reports whether a pipe has bytes that were not read yet. A closed one has none.
func unread(f *os.File) (has bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	_ = conn.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		has = n > 0 && err == nil && fds[0].Revents&unix.POLLIN != 0
	}) // fails only when f is closed
	return has
}
