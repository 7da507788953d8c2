//go:build unix && !linux

package spawn

import (
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A child is the leader of a process group; pid is also the number of the group.
type child struct {
	pid    int
	reaped atomic.Bool // by await
}

// await blocks until the leader has exited and says how. It reaps the leader at once: waitid, which could leave it a
// zombie, also returns for stopped children on macOS.
func (c *child) await() string {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(c.pid, &ws, 0, nil)
		if err == nil {
			c.reaped.Store(true)
			return describe(syscall.WaitStatus(ws))
		}
		if err != unix.EINTR {
			return "exit status unknown: " + err.Error()
		}
	}
}

// signalGroup signals the group. A group keeps its number when its leader is reaped: if a process has
// the pid again, the group has ended.
func (c *child) signalGroup(s syscall.Signal) {
	if !c.reaped.Load() || unix.Kill(c.pid, 0) == unix.ESRCH {
		unix.Kill(-c.pid, s)
	}
}
