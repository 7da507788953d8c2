//go:build unix

package system

import "syscall"

var (
	refused     = []syscall.Errno{syscall.ECONNREFUSED}
	unreachable = []syscall.Errno{syscall.EHOSTUNREACH, syscall.ENETUNREACH}
	reset       = []syscall.Errno{syscall.ECONNRESET}
	closed      = []syscall.Errno{syscall.EPIPE}
	held        []syscall.Errno // never
	inUse       []syscall.Errno // never
)

// Quiet reports whether a connection is open and has nothing to read.
func Quiet(c syscall.Conn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, err := syscall.Read(int(fd), one[:])
		quiet = err == syscall.EAGAIN
		return true
	})
	return err == nil && quiet
}
