//go:build unix

package h1

import "syscall"

// canCheck reports whether idleAlive works.
const canCheck = true

// idleAlive reports whether an idle connection is open and has nothing to read. Unexpected data
// would be mistaken for the response to the next request.
func (c *conn) idleAlive() bool {
	raw, err := c.Conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return false
	}
	alive := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, err := syscall.Read(int(fd), one[:])
		alive = err == syscall.EAGAIN
		return true
	})
	return err == nil && alive
}
