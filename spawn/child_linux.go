package spawn

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A child is the leader of a process group; pid is also the number of the group.
type child struct{ pid int }

// is64bit is 1 where siginfo_t has four bytes of padding before its union.
const is64bit = ^uint(0) >> 63

// childInfo is siginfo_t as waitid fills it in; unix.Siginfo keeps its union to itself.
type childInfo struct {
	_      [3 + is64bit]int32
	_      int32 // si_pid
	_      uint32
	status int32 // si_status: exit code, or signal number
}

// await blocks until the leader has exited and says how. The leader stays a zombie until reap, so that neither its
// pid nor the number of its group can come to mean anybody else.
func (c *child) await() string {
	awaitExit(c.pid)
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, c.pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return "exit status unknown: " + err.Error()
		}
	}
	status := (*childInfo)(unsafe.Pointer(&info)).status
	if info.Code == 1 { // CLD_EXITED
		return describe(syscall.WaitStatus(status << 8))
	}
	return describe(syscall.WaitStatus(status))
}

// signalGroup signals the group. Its leader has not been reaped: alive or a zombie, it has the pid,
// and with that the group has its number.
func (c *child) signalGroup(s syscall.Signal) { unix.Kill(-c.pid, s) }
