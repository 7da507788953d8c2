package files

import (
	"os"

	"golang.org/x/sys/windows"
)

// A lock of Windows denies others its bytes, so it is far behind the end of every file.
const lockAt = 1 << 30 // in units of 4 GiB

func lockFile(f *os.File, flags uint32) error {
	at := windows.Overlapped{OffsetHigh: lockAt}
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
}

// lock holds a lock on a file until it is closed.
func lock(f *os.File) error { return lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// isLocked reports whether a writer has a file locked. If none has, none can lock it until f is
// closed.
func isLocked(f *os.File) bool { return lockFile(f, windows.LOCKFILE_FAIL_IMMEDIATELY) != nil }

// remove removes a file, which Windows refuses while anything has it open.
func remove(f *os.File) error {
	f.Close()
	return os.Remove(f.Name())
}
