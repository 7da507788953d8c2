//go:build unix

package spawn

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tokensVar holds, in the environment of every child, the tokens of the runs it belongs to, outermost first, joined by ":".
	tokensVar = "TOOLMAN_GUARD"
	// guardingVar is set in the environment of a guard alone: the token of the run it looks after. The guard does not
	// carry that token itself, only those of outer runs.
	guardingVar = "TOOLMAN_GUARDING"
	// sweepWait bounds the search of Close.
	sweepWait = 100 * time.Millisecond
	// closeWait is how long Close waits for the guard to be gone.
	closeWait = 100 * time.Millisecond
)

// A Guard is a process that outlives this one for as long as it takes to kill every child this one has left behind, even if it
// was killed by SIGKILL. Its methods may be called concurrently; a nil Guard guards nothing. On Windows
// it is empty, because job objects do its work.
type Guard struct {
	token  string        // 128 random bits in hex
	entry  string        // the tokensVar entry of our children
	child  *child        // the guard process
	exited chan struct{} // closed under mu when the guard has exited and was reaped

	mu     sync.Mutex
	pipe   int // guarded by mu: writing end, non-blocking; -1 after Close
	groups int // guarded by mu: how many groups are announced
}

// StartGuard starts a process that runs this program as `__guard`, for which it must call RunGuard, when this process ends. It does not wait for the guard to
// come up: what it is told meanwhile waits in its pipe. One guard serves all children of a process.
func StartGuard() (*Guard, error) {
	token := newToken()
	g := &Guard{
		token:  token,
		entry:  tokensVar + "=" + joinToken(os.Getenv(tokensVar), token),
		exited: make(chan struct{}),
	}
	if err := g.start(); err != nil {
		return nil, fmt.Errorf("starting the guard process: %w", err)
	}
	return g, nil
}

func newToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func joinToken(outer, token string) string {
	if outer == "" {
		return token
	}
	return outer + ":" + token
}

func (g *Guard) start() error {
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
	argv := guardCommand(exe)
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir:   "/", // keeps no directory busy
		Env:   g.guardEnv(),
		Files: []uintptr{uintptr(fds[0]), null.Fd(), null.Fd()},
		Sys:   guardAttr(), // in a session of its own: out of reach of Ctrl-C and of whoever kills our group
	})
	if err == nil {
		err = unix.SetNonblock(fds[1], true)
	}
	if err != nil {
		unix.Close(fds[1])
		return err
	}
	g.child, g.pipe = &child{pid: pid}, fds[1]
	g.holdBack()
	go g.wait()
	return nil
}

// watch waits for the end of the pipe in a shell, which costs a tenth of the memory and time of this program doing so, and
// becomes this program only when there is something to do.
const watch = `trap "" HUP INT TERM PIPE
events=
while read -r event; do
	test "$event" = . && exit 0
	events="$events $event"
done
exec "$0" __guard $events </dev/null`

// guardCommand returns how the guard is started: by a shell, or at once where there is none.
func guardCommand(exe string) []string {
	const shell = "/bin/sh"
	if unix.Access(shell, unix.X_OK) != nil {
		return []string{exe, "__guard"}
	}
	return []string{shell, "-c", watch, exe}
}

// guardEnv leaves out the token of this run, so that the guard's own sweep passes it by.
func (g *Guard) guardEnv() []string {
	env := []string{guardingVar + "=" + g.token, "GOMAXPROCS=1"}
	if outer, ok := os.LookupEnv(tokensVar); ok {
		env = append(env, tokensVar+"="+outer)
	}
	return env
}

// wait sees the guard's end. From then on its pid may come to mean another process.
func (g *Guard) wait() {
	g.child.await()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.child.reap()
	close(g.exited)
}

func (g *Guard) environ() []string {
	if g == nil {
		return nil
	}
	return []string{g.entry}
}

// add announces a group whose leader has not been reaped.
func (g *Guard) add(pgid int) {
	if g != nil {
		g.tell(fmt.Sprintf("+%d@%d\n", pgid, startTime(pgid)), 1)
	}
}

// remove says that a group is dead.
func (g *Guard) remove(pgid int) {
	if g != nil {
		g.tell(fmt.Sprintf("-%d\n", pgid), -1)
	}
}

// tell writes one event, by which the number of groups changes, and never waits. An event is lost
// if the guard has been killed, or stopped for some three thousand events; neither may hold up a
// child's life.
func (g *Guard) tell(event string, groups int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups += groups
	if g.pipe >= 0 {
		unix.Write(g.pipe, []byte(event))
	}
}

// Close kills every process that the children of this run have left behind, wherever it has moved
// (on Linux), and every child that is still running. It waits some 100 ms at most for that to be
// done, and then leaves the rest to the guard, which outlives this process. Start must not be called
// with g any more.
func (g *Guard) Close() {
	if g != nil {
		g.close(sweepWait)
	}
}

// close is Close with a limit for the search.
func (g *Guard) close(limit time.Duration) {
	if g.sweep(limit) {
		g.tell(orderlyEnd+"\n", 0)
	}
	g.hangUp()
	g.goOn()
	await(g.exited, closeWait)
}

// sweep kills what the children have left behind, and reports whether nothing is left: no such
// process, and no group.
func (g *Guard) sweep(limit time.Duration) (clean bool) {
	swept := make(chan bool, 1)
	go func() { swept <- endRun(g.token, nil, limit) }()
	select {
	case clean = <-swept:
	case <-time.After(limit): // looking at a process that is stuck in the kernel may get us stuck
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return clean && g.groups == 0
}

// hangUp closes the pipe, as the end of this process would.
func (g *Guard) hangUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe >= 0 {
		unix.Close(g.pipe)
		g.pipe = -1
	}
}
