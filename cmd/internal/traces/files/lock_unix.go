//go:build unix

package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock holds a lock on a file until it is closed.
func lock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}

// isLocked reports whether a writer has a file locked. If none has, none can lock it until f is
// closed.
func isLocked(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil }

// remove removes a file that f has locked.
func remove(f *os.File) error { return os.Remove(f.Name()) }
