//go:build unix

package spawn

import (
	"os"

	"golang.org/x/sys/unix"
)

// newPipe makes a pipe of two blocking ends. NewFile puts a descriptor into the poller only if it is non-blocking already.
func newPipe(name string, size int) (r, w *os.File, err error) {
	fds, err := pipeFDs()
	if err != nil {
		return nil, nil, err
	}
	resize(fds[1], size)
	return os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name), nil
}

// newPolledPipe makes a pipe whose reading end is in the poller; the child's end is blocking.
func newPolledPipe(name string) (r, w *os.File, err error) {
	fds, err := pipeFDs()
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name), nil
}
