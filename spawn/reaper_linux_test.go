package spawn

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// comeUp lets a reaper that is held back come up, and waits until it has read what it was told.
func comeUp(r *Reaper) {
	r.resume()
	for {
		unread, err := unix.IoctlGetInt(r.pipe, unix.TIOCINQ)
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

func TestReaperIsHeldBack(t *testing.T) {
	t.Parallel()
	r := heldBack(t)
	eventually(t, "it goes on by itself", func() bool { return !isStopped(t, r.child.pid) })
}

func TestReaperThatIsHeldBackGoesOnAtTheEnd(t *testing.T) {
	r := heldBack(t)
	r.Close()
	if isStopped(t, r.child.pid) {
		t.Error("the reaper is stopped after Close")
	}
}

func heldBack(t *testing.T) *Reaper {
	t.Helper()
	r, err := StartReaper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	eventually(t, "it is stopped", func() bool { return isStopped(t, r.child.pid) })
	return r
}
