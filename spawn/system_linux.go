package spawn

import (
	"math"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A child is the leader of a process group; pid is also the number of the group.
type child struct{ pid int }

// is64bit is 1 where siginfo_t has four bytes of padding before its union.
const is64bit = ^uint(0) >> 63

// childInfo is siginfo_t as waitid fills it in. The union of unix.Siginfo is not exported.
type childInfo struct {
	_      [3 + is64bit]int32
	_      int32 // si_pid
	_      uint32
	status int32 // si_status: exit code, or signal number
}

// await blocks until the leader has exited, and returns its status. The leader stays a zombie until
// reap, so that no other process and no other group gets its number.
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

// signalGroup signals the group. The leader is not reaped yet, so the number still belongs to the
// group.
func (c *child) signalGroup(s syscall.Signal) { unix.Kill(-c.pid, s) }

// awaitExit blocks until a child has exited that is not reaped yet, without a thread. It returns at
// once before Linux 5.10, so that the caller's system call takes a thread.
func awaitExit(pid int) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}

// pauseTime is how long a reaper is stopped at its start.
const pauseTime = time.Second

// reaperAttr makes the kernel resume a stopped reaper when this process ends.
func reaperAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT}
}

// pause stops the reaper for a while, because starting it would take a millisecond of processor
// time from the children. It runs before wait, so the reaper is not reaped.
func (r *Reaper) pause() {
	unix.Kill(r.child.pid, unix.SIGSTOP)
	time.AfterFunc(pauseTime, r.resume)
}

// resume resumes the reaper.
func (r *Reaper) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.exited: // another process may have its pid
	default:
		unix.Kill(r.child.pid, unix.SIGCONT) // wait needs the lock to reap the reaper
	}
}

func pipeFDs() (fds [2]int, err error) {
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds, err
}

// resize may fail at the limit of a user's pipe memory.
func resize(fd, size int) { unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, size) }

// closeInheritedOnExec keeps descriptors that our parent left open from the children. Go's own are
// closed on exec already. Linux before 5.11 cannot do it.
func closeInheritedOnExec() { unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }
