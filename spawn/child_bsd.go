//go:build unix && !linux

package spawn

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// await blocks until the leader has exited and says how. It reaps the leader at once: waitid, which could leave it a
// zombie, also returns for stopped children on macOS. Its group is signalled at most a second later (lingerLimit),
// sooner than pids come round.
func (c *child) await() string {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(c.pid, &ws, 0, nil)
		if err == nil {
			return describe(syscall.WaitStatus(ws))
		}
		if err != unix.EINTR {
			return "exit status unknown: " + err.Error()
		}
	}
}
