package system

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	refused     = []syscall.Errno{windows.WSAECONNREFUSED}
	unreachable = []syscall.Errno{windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH}
	reset       = []syscall.Errno{windows.WSAECONNRESET, windows.WSAECONNABORTED}
	closed      = []syscall.Errno{windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA}
	held        = []syscall.Errno{windows.ERROR_SHARING_VIOLATION}
	// Access is also denied to a file that another program has open.
	inUse = append([]syscall.Errno{windows.ERROR_ACCESS_DENIED}, held...)
)

var wsaPoll = windows.NewLazySystemDLL("ws2_32.dll").NewProc("WSAPoll")

// Quiet reports whether a connection is open and has nothing to read.
func Quiet(c syscall.Conn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Control(func(fd uintptr) {
		poll := struct { // WSAPOLLFD
			fd              uintptr
			events, revents int16
		}{fd: fd, events: 0x0100} // POLLRDNORM
		n, _, _ := wsaPoll.Call(uintptr(unsafe.Pointer(&poll)), 1, 0)
		quiet = int32(n) == 0
	})
	return err == nil && quiet
}
