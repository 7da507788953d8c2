//go:build unix && !linux

package spawn

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// processState returns the state letter of a process, such as 'S' or 'Z'; 0 if there is none.
func processState(pid int) byte {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if err != nil || len(out) == 0 {
		return 0
	}
	return out[0]
}

func countDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// comeUp does nothing: reapers come up at once.
func comeUp(*Reaper) {}
