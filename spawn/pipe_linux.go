package spawn

import (
	"math"

	"golang.org/x/sys/unix"
)

func pipeFDs() (fds [2]int, err error) {
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds, err
}

// resize is best effort: the limit of a user's pipe memory may be reached.
func resize(fd, size int) { unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, size) }

// closeInheritedOnExec keeps descriptors that our parent left open from reaching the children. Go opens its own so
// already. Best effort: Linux before 5.11 cannot do it.
func closeInheritedOnExec() { unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }
