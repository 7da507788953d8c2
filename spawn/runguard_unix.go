//go:build unix

package spawn

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The events a guard is told, one a line: "+PGID" is a group to guard, "-PGID" one that is dead, and orderlyEnd says that
// the end of the pipe, which follows, is not a crash.
const orderlyEnd = "."

const (
	// sweepLimit bounds a guard's life after the end of its run.
	sweepLimit = 2 * time.Second
	// sweepPause lets what was killed die, and what was being forked appear.
	sweepPause = 20 * time.Millisecond
)

// RunGuard is the body of the hidden command `toolman __guard`, which only StartGuard runs. It takes events from args and then
// from stdin until its end, kills what the run has left behind, and returns the exit code.
func RunGuard(args []string, stdin io.Reader) int {
	token := os.Getenv(guardingVar)
	if len(token) != 32 {
		return 2 // started by hand
	}
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	groups, orderly := readEvents(io.MultiReader(strings.NewReader(strings.Join(args, "\n")+"\n"), stdin))
	for pgid := range groups {
		unix.Kill(-pgid, unix.SIGKILL)
	}
	sweepAll(token, orderly)
	return 0
}

// readEvents returns the groups that are alive at the end of the pipe.
func readEvents(stdin io.Reader) (groups map[int]bool, orderly bool) {
	groups = make(map[int]bool)
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		event := lines.Text()
		if event == orderlyEnd {
			orderly = true
			continue
		}
		if event == "" {
			continue
		}
		pgid, err := strconv.Atoi(event[1:])
		if err != nil || pgid <= 1 { // kill(-1) and kill(0) mean everybody
			continue
		}
		switch event[0] {
		case '+':
			groups[pgid] = true
		case '-':
			delete(groups, pgid)
		}
	}
	return groups, orderly
}

// sweepAll kills until nobody is left. After a crash that must be seen twice, because a child may have been between fork
// and exec, where it does not carry the token yet. Guards of inner runs are given the time to do
// their own work, which reaches processes that carry no token; their runs have just been killed.
func sweepAll(token string, orderly bool) {
	clean := 2
	if orderly {
		clean = 1
	}
	for until := time.Now().Add(sweepLimit); ; time.Sleep(sweepPause) {
		late := time.Now().After(until)
		if sweep(token, late) > 0 {
			clean = max(clean, 2)
		} else {
			clean--
		}
		if clean == 0 || late {
			return
		}
	}
}
