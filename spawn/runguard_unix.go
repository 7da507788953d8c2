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

// The events a guard is told, one a line: "+PGID@START" is a group to guard and when its leader was
// started, as startTime has it, "-PGID" one that is dead, and orderlyEnd says that nothing is left.
const orderlyEnd = "."

// endLimit bounds a guard's life after the end of its run.
const endLimit = 10 * time.Second

// RunGuard is the body of the hidden command `toolman __guard`, which only StartGuard runs. It takes events from args and then
// from stdin until its end, kills what the run has left behind, and returns the exit code.
func RunGuard(args []string, stdin io.Reader) int {
	token := os.Getenv(guardingVar)
	if len(token) != 32 {
		return 2 // started by hand
	}
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	groups, orderly := readEvents(io.MultiReader(strings.NewReader(strings.Join(args, "\n")+"\n"), stdin))
	if !orderly {
		endRun(token, groups, endLimit)
	}
	return 0
}

// readEvents returns the groups that are alive at the end of the pipe, and when their leaders were
// started.
func readEvents(stdin io.Reader) (groups map[int]uint64, orderly bool) {
	groups = make(map[int]uint64)
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		event := lines.Text()
		if event == orderlyEnd {
			return nil, true
		}
		if event == "" {
			continue
		}
		number, start, _ := strings.Cut(event[1:], "@")
		pgid, err := strconv.Atoi(number)
		if err != nil || pgid <= 1 { // kill(-1) and kill(0) mean everybody
			continue
		}
		switch event[0] {
		case '+':
			if at, err := strconv.ParseUint(start, 10, 64); err == nil {
				groups[pgid] = at
			}
		case '-':
			delete(groups, pgid)
		}
	}
	return groups, false
}
