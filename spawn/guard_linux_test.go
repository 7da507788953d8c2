package spawn

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// comeUp lets a guard that is held back come up, and waits until it has read what it was told.
func comeUp(g *Guard) {
	g.resume()
	for {
		unread, err := unix.IoctlGetInt(g.pipe, unix.TIOCINQ)
		check(err)
		if unread == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// isStopped reports whether a process has been stopped by a signal.
func isStopped(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false // it is gone
	}
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')'):], []byte(") T "))
}

func TestGuardIsHeldBack(t *testing.T) {
	t.Parallel()
	g := heldBack(t)
	eventually(t, "it goes on by itself", func() bool { return !isStopped(t, g.child.pid) })
}

func TestGuardThatIsHeldBackGoesOnAtTheEnd(t *testing.T) {
	g := heldBack(t)
	g.Close()
	if isStopped(t, g.child.pid) {
		t.Error("the guard is stopped after Close")
	}
}

func heldBack(t *testing.T) *Guard {
	t.Helper()
	g, err := StartGuard()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	eventually(t, "it is stopped", func() bool { return isStopped(t, g.child.pid) })
	return g
}
