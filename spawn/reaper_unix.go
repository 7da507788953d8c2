//go:build unix

package spawn

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tokensVar is in the environment of every child. It holds the tokens of the runs that the
	// child belongs to, the outermost first, joined by ":".
	tokensVar = "TOOLMAN_GUARD"
	// reapingVar is in the environment of a reaper. It holds the token of the run that it ends. The
	// reaper's tokensVar has only those of outer runs.
	reapingVar = "TOOLMAN_GUARDING"
	// sweepWait limits the search of Close.
	sweepWait = 100 * time.Millisecond
	// closeWait is how long Close waits for the reaper to exit.
	closeWait = 100 * time.Millisecond
)

// A Reaper is a process that kills the children that this process leaves behind, even if this one
// is killed by SIGKILL. Its methods may be called concurrently. A nil Reaper does nothing. On
// Windows, job objects do the work instead.
type Reaper struct {
	token  string        // random
	entry  string        // the tokensVar entry of our children
	child  *child        // the reaper process
	exited chan struct{} // closed under mu when the reaper has exited and was reaped

	mu     sync.Mutex
	pipe   int // guarded by mu: writing end, non-blocking; -1 after Close
	groups int // guarded by mu: the number of announced groups
}

// StartReaper starts a reaper for all children of this process. When this process ends, the reaper
// runs this program with the argument __guard. The program must then call RunReaper. (The name is
// older than the type. It stays, because the file may hold a newer version by then.) StartReaper
// does not wait for the reaper: its pipe holds the events until it reads them.
func StartReaper() (*Reaper, error) {
	token := rand.Text()
	r := &Reaper{
		token:  token,
		entry:  tokensVar + "=" + strings.TrimPrefix(os.Getenv(tokensVar)+":"+token, ":"),
		exited: make(chan struct{}),
	}
	if err := r.start(); err != nil {
		return nil, fmt.Errorf("starting the reaper process: %w", err)
	}
	return r, nil
}

func (r *Reaper) start() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	fds, err := pipeFDs()
	if err != nil {
		return err
	}
	defer unix.Close(fds[0])
	closeInheritedOnExec()
	argv := reaperCommand(exe)
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir:   "/", // does not keep a directory busy
		Env:   r.reaperEnv(),
		Files: []uintptr{uintptr(fds[0]), null.Fd(), null.Fd()},
		Sys:   reaperAttr(), // in its own session, so that Ctrl-C or a signal to our group does not reach it
	})
	if err == nil {
		err = unix.SetNonblock(fds[1], true)
	}
	if err != nil {
		unix.Close(fds[1])
		return err
	}
	r.child, r.pipe = &child{pid: pid}, fds[1]
	r.pause()
	go r.wait()
	return nil
}

// watchScript waits for the end of the pipe, and becomes this program if there is something to
// kill. A shell needs a tenth of the memory and time of this program.
const watchScript = `trap "" HUP INT TERM PIPE
events=
while read -r event; do
	test "$event" = . && exit 0
	events="$events $event"
done
exec "$0" __guard $events </dev/null`

// reaperCommand returns the command of the reaper: the script, or this program if there is no
// shell.
func reaperCommand(exe string) []string {
	const shell = "/bin/sh"
	if unix.Access(shell, unix.X_OK) != nil {
		return []string{exe, "__guard"}
	}
	return []string{shell, "-c", watchScript, exe}
}

// reaperEnv is an environment without the token of this run, so that the reaper does not kill
// itself.
func (r *Reaper) reaperEnv() []string {
	env := []string{reapingVar + "=" + r.token, "GOMAXPROCS=1"}
	if outer, ok := os.LookupEnv(tokensVar); ok {
		env = append(env, tokensVar+"="+outer)
	}
	return env
}

// wait reaps the reaper. After that, another process may get its pid.
func (r *Reaper) wait() {
	r.child.await()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.child.reap()
	close(r.exited)
}

func (r *Reaper) environ() []string {
	if r == nil {
		return nil
	}
	return []string{r.entry}
}

// add announces a group whose leader has not been reaped.
func (r *Reaper) add(pgid int) {
	if r != nil {
		r.send(fmt.Sprintf("+%d@%d\n", pgid, startTime(pgid)), 1)
	}
}

// remove reports that a group has ended.
func (r *Reaper) remove(pgid int) {
	if r != nil {
		r.send(fmt.Sprintf("-%d\n", pgid), -1)
	}
}

// send writes an event that changes the number of groups, and never waits. The event is lost if the
// reaper was killed, or stopped for about three thousand events.
func (r *Reaper) send(event string, groups int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.groups += groups
	if r.pipe >= 0 {
		unix.Write(r.pipe, []byte(event))
	}
}

// Close kills every child that is still running and, on Linux, every process that the children have
// left behind, also in other groups. After about 100 ms it leaves the rest to the reaper, which
// outlives this process. Start must not be called with r after that.
func (r *Reaper) Close() {
	if r != nil {
		r.close(sweepWait)
	}
}

// close is Close with a time limit for the search.
func (r *Reaper) close(limit time.Duration) {
	if r.sweep(limit) {
		r.send(cleanEnd+"\n", 0)
	}
	r.closePipe()
	r.resume()
	closedWithin(r.exited, closeWait)
}

// sweep kills what the children have left behind, and reports whether no such process and no group
// is left.
func (r *Reaper) sweep(limit time.Duration) (clean bool) {
	swept := make(chan bool, 1)
	go func() { swept <- endRun(r.token, nil, limit) }()
	select {
	case clean = <-swept:
	case <-time.After(limit): // the search itself may block on a process that is stuck in the kernel
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return clean && r.groups == 0
}

// closePipe closes the pipe, as the end of this process does.
func (r *Reaper) closePipe() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pipe >= 0 {
		unix.Close(r.pipe)
		r.pipe = -1
	}
}

// A reaper gets events, one on each line: "+PGID@START" is a group to end, with the start time of
// its leader, "-PGID" a group that has ended, and cleanEnd means that nothing is left.
const cleanEnd = "."

// endLimit is how long a reaper works after the end of its run.
const endLimit = 10 * time.Second

// RunReaper is the hidden command `toolman __guard`, which the reaper runs. It reads events from
// args and then from stdin, kills what the run has left behind, and returns the exit code.
func RunReaper(args []string, stdin io.Reader) int {
	token := os.Getenv(reapingVar)
	if token == "" {
		return 2 // not started by StartReaper
	}
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	groups, orderly := readEvents(io.MultiReader(strings.NewReader(strings.Join(args, "\n")+"\n"), stdin))
	if !orderly {
		endRun(token, groups, endLimit)
	}
	return 0
}

// readEvents returns the groups that remain at the end of the pipe, with the start times of their
// leaders.
func readEvents(stdin io.Reader) (groups map[int]uint64, orderly bool) {
	groups = make(map[int]uint64)
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		event := lines.Text()
		if event == cleanEnd {
			return nil, true
		}
		if event == "" {
			continue
		}
		number, start, _ := strings.Cut(event[1:], "@")
		pgid, err := strconv.Atoi(number)
		if err != nil || pgid <= 1 { // kill(-1) and kill(0) would kill more than a group
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
