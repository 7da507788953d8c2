package spawn

import (
	"os"
	"sync"
	"time"
)

const (
	// lingerLimit is how long the group of a leader that exited by itself is left alone if nobody calls KillGroup or Stop.
	lingerLimit = time.Second
	// killWait is how long Stop waits for what it killed to be gone; only a process stuck in the kernel takes that long.
	killWait = 100 * time.Millisecond
	// stderrGrace is how long standard error is read on when the group is dead and somebody outside it holds the pipe.
	stderrGrace = 50 * time.Millisecond
)

// A Process is a running child, the leader of its process group, as started by Start.
// Its methods may be called by any goroutine, at any time.
type Process struct {
	// immutable after Start
	stdin, stdout *os.File
	child         *child
	stderr        *stderr
	guard         *Guard

	exited chan struct{} // closed when the leader has exited and status is set
	unheld chan struct{} // closed when nobody wants the rest of the group any more
	unhold sync.Once     // closes unheld
	ended  chan struct{} // closed when the group is dead, the leader reaped and standard error closed
	status string        // set before exited is closed

	mu     sync.Mutex
	reaped bool // guarded by mu: the number of the group may belong to somebody else
}

// attend looks after a child that has just been started.
func attend(c *child, s *streams, sink func(string), g *Guard) *Process {
	p := &Process{
		stdin:  s.stdin,
		stdout: s.stdout,
		child:  c,
		stderr: drainStderr(s.stderr, sink),
		guard:  g,
		exited: make(chan struct{}),
		unheld: make(chan struct{}),
		ended:  make(chan struct{}),
	}
	g.add(c.pid)
	go p.wait()
	return p
}

// wait is the goroutine that sees the leader's exit and clears up after it.
func (p *Process) wait() {
	p.status = p.child.await()
	close(p.exited)
	await(p.unheld, lingerLimit)
	p.bury()
	p.stderr.finish(stderrGrace)
	close(p.ended)
}

// bury kills what is left of the group and reaps. Signals come first, then the guard forgets the group, then its
// number is given back: in any other order somebody could signal a stranger.
func (p *Process) bury() {
	p.mu.Lock()
	p.child.kill()
	p.guard.remove(p.child.pid)
	p.reaped = true
	p.mu.Unlock()
	p.child.reap()
}

// Stdin returns the writing end of the child's standard input. It belongs to the caller, who closes it. It is a blocking
// descriptor outside Go's poller; the caller may change that.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout returns the reading end of the child's standard output. It belongs to the caller, who closes it. It is a
// blocking descriptor outside Go's poller; the caller may change that.
func (p *Process) Stdout() *os.File { return p.stdout }

// Pid returns the process id of the leader, which on Unix is also the number of its group.
func (p *Process) Pid() int { return p.child.pid }

// Done returns a channel that is closed as soon as the leader has exited. Members of its group may live on, and its last
// output may still be in the pipe: read on for a moment, then call KillGroup or Stop. After a second without either
// the group is killed.
func (p *Process) Done() <-chan struct{} { return p.exited }

// ExitStatus returns how the leader ended, such as "exit status 3" or "killed by SIGSEGV"; "" before Done is closed.
func (p *Process) ExitStatus() string {
	if !p.hasExited() {
		return ""
	}
	return p.status
}

// StderrTail returns the last lines of standard error, cleaned like those given to Command.Stderr, at most 20 of them and 4 KiB,
// the unfinished one included. It does not block while the child runs; when it has exited, it waits up to 20 ms for
// its last words.
func (p *Process) StderrTail() string {
	if p.hasExited() {
		await(p.stderr.eof, 20*time.Millisecond)
	}
	return p.stderr.tail.String()
}

// A Ladder holds the two waits of Stop.
type Ladder struct {
	AfterEOF  time.Duration // between closing stdin and SIGTERM
	AfterTerm time.Duration // between SIGTERM and SIGKILL
}

// Stop ends the child and its group: it calls closeStdin (if not nil), waits, sends SIGTERM to the group, waits, sends SIGKILL to
// the group and reaps. A wait is over as soon as the leader has exited and standard error is closed, which says that a
// wrapper's server has ended too. If the leader had exited before the call, what is left of its group is killed at once.
//
// Stop blocks for at most the two waits and some 100 ms. Every call walks its own ladder, so a second call with shorter
// waits makes an end sooner. CloseStdin must not block, and must bear being called by each of them.
func (p *Process) Stop(closeStdin func(), l Ladder) {
	wasGone := p.hasExited()
	if closeStdin != nil {
		closeStdin()
	}
	if !wasGone && !p.quietWithin(l.AfterEOF) {
		p.terminate()
		p.quietWithin(l.AfterTerm)
	}
	p.KillGroup()
	await(p.ended, killWait)
}

// KillGroup kills the leader and its whole group, and what is left of the group if the leader has exited. It does not block.
func (p *Process) KillGroup() {
	p.mu.Lock()
	if !p.reaped {
		p.child.kill()
	}
	p.mu.Unlock()
	p.unhold.Do(func() { close(p.unheld) })
}

func (p *Process) terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.child.terminate()
	}
}

func (p *Process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// quietWithin reports whether, within d, the leader exits and nobody holds its standard error any more.
func (p *Process) quietWithin(d time.Duration) bool {
	until := time.Now().Add(d)
	return await(p.exited, d) && await(p.stderr.eof, time.Until(until))
}

// await waits for c to be closed, no longer than d, and reports whether it is.
func await(c <-chan struct{}, d time.Duration) bool {
	select { // a closed channel wins over a wait of nothing
	case <-c:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}
