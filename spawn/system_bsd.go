//go:build unix && !linux

package spawn

import (
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A child is the leader of a process group; pid is also the number of the group.
type child struct {
	pid    int
	reaped atomic.Bool // by await
}

// await blocks until the leader has exited, and returns its status. It reaps the leader at once,
// because waitid, which does not, also returns for stopped children on macOS.
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

// signalGroup signals the group. A group keeps its number when its leader is reaped. If another
// process has the pid, the group has ended.
func (c *child) signalGroup(s syscall.Signal) {
	if !c.reaped.Load() || unix.Kill(c.pid, 0) == unix.ESRCH {
		unix.Kill(-c.pid, s)
	}
}

// awaitExit returns at once. The caller waits in a system call.
func awaitExit(int) {}

func reaperAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// pause does nothing, because nothing would resume the reaper when this process is killed.
func (r *Reaper) pause() {}

func (r *Reaper) resume() {}

// pipeFDs holds ForkLock so that no fork inherits the pipe before it is marked.
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

// resize does nothing. These systems choose the size of pipes themselves.
func resize(int, int) {}

// closeInheritedOnExec does nothing. It would need a loop over all descriptors.
func closeInheritedOnExec() {}

// endRun kills the groups whose leaders were started at the given times. It does not find processes
// that have left their group, because these systems do not show the environment of a process to
// others.
func endRun(_ string, groups map[int]uint64, _ time.Duration) (clean bool) {
	for pgid, start := range groups {
		now := startTime(pgid)
		// A group keeps its number when its leader is reaped.
		if now != 0 && now == start || unix.Kill(pgid, 0) == unix.ESRCH {
			unix.Kill(-pgid, unix.SIGKILL)
		}
	}
	return true
}
