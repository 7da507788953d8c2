//go:build unix

package streamhttp

import "syscall"

// canTell says that silent can tell.
const canTell = true

// silent reports whether nothing has come on a connection that nobody uses, not even its end:
// whoever reads what a server closes, or says unasked, mistakes it for the response.
func (c *directConn) silent() bool {
	raw, err := c.Conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return false
	}
	silent := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, err := syscall.Read(int(fd), one[:])
		silent = err == syscall.EAGAIN
		return true
	})
	return err == nil && silent
}
