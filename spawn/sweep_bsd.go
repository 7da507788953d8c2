//go:build unix && !linux

package spawn

import (
	"time"

	"golang.org/x/sys/unix"
)

// endRun kills the members of the given groups, whose leaders were started at those times. It knows
// nothing of processes that have left them: these systems do not show one process the environment
// of another.
func endRun(_ string, groups map[int]uint64, _ time.Duration) (clean bool) {
	for pgid, start := range groups {
		now := startTime(pgid)
		// A group keeps its number when its leader is reaped: no other process gets it.
		if now != 0 && now == start || unix.Kill(pgid, 0) == unix.ESRCH {
			unix.Kill(-pgid, unix.SIGKILL)
		}
	}
	return true
}
