//go:build unix

package hook

import (
	"os"

	"golang.org/x/sys/unix"
)

// polled returns a pipe end whose reads and writes end when it is closed, and closes f. Otherwise a
// process that has left the group of the command, and keeps the pipe open, could hold them.
func polled(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return f
	}
	defer f.Close()
	_ = unix.SetNonblock(fd, true) // NewFile sees whether it is
	return os.NewFile(uintptr(fd), f.Name())
}
