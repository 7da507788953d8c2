package spawn

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit blocks until a child, which nobody has reaped, has exited. It returns early where that cannot be polled, as
// before Linux 5.10; whoever then waits for the child in a system call takes a thread for as long as it lives.
func awaitExit(pid int) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}
