package peer

import (
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// closeBusy closes a stream and ends the Read or Write that is under way. It does not wait, because
// nothing ends the Read of a console.
func closeBusy(c io.Closer, busy *atomic.Bool) {
	go func() {
		interrupt(c, busy)
		c.Close()
	}()
}

// interrupt ends the Read or Write that is under way on a pipe. Windows cancels only what has
// reached it, so that the one attempt of Close can be in vain.
func interrupt(c io.Closer, busy *atomic.Bool) {
	f, ok := c.(*os.File)
	if !ok {
		return // it has deadlines
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Control(func(handle uintptr) { // not if f is closed
		for pause := time.Millisecond; busy.Load(); pause = min(2*pause, time.Second) {
			syscall.CancelIoEx(syscall.Handle(handle), nil)
			time.Sleep(pause)
		}
	})
}
