//go:build unix

package hop

import "syscall"

// refused is the error of the system if nobody listens at an address.
const refused = syscall.ECONNREFUSED

// canCheck reports whether alive works.
const canCheck = true

// alive reports whether an idle connection is open. The peer has nothing to say on it: what there
// is to read is the end of the connection, or of its TLS.
func (c *conn) alive() bool {
	raw, err := c.Conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, err := syscall.Read(int(fd), one[:])
		open = err == syscall.EAGAIN
		return true
	})
	return err == nil && open
}
