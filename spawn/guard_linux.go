package spawn

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// comeUpAfter is how long a guard is held back.
const comeUpAfter = time.Second

// guardAttr has the kernel let a guard that is held back go on when this process ends.
func guardAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT}
}

// holdBack stops the guard before it has done anything. There is nothing for it to do while this process lives, and to come up
// would take a millisecond of the processor from the children, who start just now. It comes before wait: nothing has
// reaped the guard.
func (g *Guard) holdBack() {
	unix.Kill(g.child.pid, unix.SIGSTOP)
	time.AfterFunc(comeUpAfter, g.goOn)
}

// goOn lets the guard come up.
func (g *Guard) goOn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.exited: // and its pid may be another's
	default:
		unix.Kill(g.child.pid, unix.SIGCONT) // which the guard keeps, a zombie or not, until wait has the lock
	}
}
