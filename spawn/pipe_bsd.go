//go:build unix && !linux

package spawn

import "syscall"

// pipeFDs holds ForkLock so that no fork comes between making the pipe and marking it.
func pipeFDs() (fds [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(fds[:]); err != nil {
		return fds, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds, nil
}

// resize has nothing to call: these systems size pipes by themselves.
func resize(int, int) {}

// closeInheritedOnExec has nothing to call that would not take a loop over all descriptors.
func closeInheritedOnExec() {}
