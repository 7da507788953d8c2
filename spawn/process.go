package spawn

import (
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// lingerLimit is how long the group lives on after its leader if KillGroup is not called. The
	// waits of Stop end then, too.
	lingerLimit = time.Second
	// killWait is how long Stop waits for killed processes to end. Only one that is stuck in the
	// kernel takes that long.
	killWait = 100 * time.Millisecond
	// stderrGrace is how long standard error is read after the group has ended, if another process
	// holds the pipe.
	stderrGrace = 50 * time.Millisecond
)

// A Process is a child started by Start, the leader of its process group. Its methods may be called
// at any time, from any goroutine.
type Process struct {
	// immutable after Start
	stdin, stdout *os.File
	child         *child
	stderr        *stderr
	reaper        *Reaper

	exited   chan struct{} // closed when the leader has exited and status is set
	released chan struct{} // closed when the rest of the group can be killed
	release  sync.Once     // closes released
	ended    chan struct{} // closed when the group has ended, the leader is reaped and standard error is closed
	status   string        // set before exited is closed

	mu     sync.Mutex
	reaped bool // guarded by mu: another group may have the number now
}

// newProcess returns the Process of a child that has just been started.
func newProcess(c *child, s *streams, sink func(string), r *Reaper) *Process {
	p := &Process{
		stdin:    s.stdin,
		stdout:   s.stdout,
		child:    c,
		stderr:   drainStderr(s.stderr, sink),
		reaper:   r,
		exited:   make(chan struct{}),
		released: make(chan struct{}),
		ended:    make(chan struct{}),
	}
	r.add(c.pid)
	go p.wait()
	return p
}

// wait waits for the leader to exit and then ends its group.
func (p *Process) wait() {
	p.status = p.child.await()
	close(p.exited)
	closedWithin(p.released, lingerLimit)
	p.finish()
	p.stderr.finish(stderrGrace)
	close(p.ended)
}

// finish kills what is left of the group and reaps the leader. The order matters: after the reaper
// has forgotten the group and the leader is reaped, another group may get the number.
func (p *Process) finish() {
	p.mu.Lock()
	p.child.kill()
	p.reaper.remove(p.child.pid)
	p.reaped = true
	p.mu.Unlock()
	p.child.reap()
}

// Stdin returns the writing end of the child's standard input. The caller closes it. It is a
// blocking descriptor outside Go's poller, which the caller may change.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout returns the reading end of the child's standard output. The caller closes it. It is a
// blocking descriptor outside Go's poller, which the caller may change.
func (p *Process) Stdout() *os.File { return p.stdout }

// Pid returns the process id of the leader, which on Unix is also the number of its group.
func (p *Process) Pid() int { return p.child.pid }

// Done returns a channel that is closed when the leader has exited. Other processes of its group
// may live on, and its last output may still be in the pipe: read that, then call KillGroup or
// Stop. Otherwise the group is killed after a second.
func (p *Process) Done() <-chan struct{} { return p.exited }

// Ended returns a channel that is closed when the whole group has ended and all lines of standard
// error were passed to Command.Stderr.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitStatus returns how the leader ended, such as "exit status 3" or "killed by SIGSEGV", and ""
// before Done is closed.
func (p *Process) ExitStatus() string {
	if !p.hasExited() {
		return ""
	}
	return p.status
}

// Succeeded reports whether the leader has ended with exit status 0.
func (p *Process) Succeeded() bool { return p.ExitStatus() == "exit status 0" }

// StderrTail returns the last lines of standard error, with an incomplete last one: at most 20
// lines and 4 KiB, sanitized as those for Command.Stderr. If the child has exited, all that it has
// written counts; on Windows StderrTail waits up to 20 ms for it.
func (p *Process) StderrTail() string {
	if p.hasExited() {
		p.stderr.catchUp()
	}
	return p.stderr.tail.String()
}

// A Ladder holds the waits of Stop.
type Ladder struct {
	AfterEOF  time.Duration // between closing stdin and SIGTERM
	AfterTerm time.Duration // between SIGTERM and SIGKILL
}

// Stop ends the child and its group. It calls closeStdin (if not nil), waits, sends SIGTERM to the
// group, waits, sends SIGKILL to the group, and reaps the leader. A wait ends when the leader has
// exited and standard error is closed, which means that the server behind a wrapper has ended too.
// If the leader had exited before the call, Stop kills what is left of its group at once.
//
// Stop blocks for at most the two waits and about 100 ms. It may be called again with shorter
// waits. Then closeStdin is called again; it must not block.
func (p *Process) Stop(closeStdin func(), l Ladder) {
	wasGone := p.hasExited()
	if closeStdin != nil {
		closeStdin()
	}
	if !wasGone && !p.endsWithin(l.AfterEOF) {
		p.Signal(syscall.SIGTERM, true)
		p.endsWithin(l.AfterTerm)
	}
	p.KillGroup()
	closedWithin(p.ended, killWait)
}

// KillGroup kills the leader and its whole group. It does not block.
func (p *Process) KillGroup() {
	p.mu.Lock()
	if !p.reaped {
		p.child.kill()
	}
	p.mu.Unlock()
	p.release.Do(func() { close(p.released) })
}

// Signal sends a signal to the leader, unless it has exited, or to its whole group. On Windows it
// does nothing.
func (p *Process) Signal(s syscall.Signal, group bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped && (group || !p.hasExited()) {
		p.child.signal(s, group)
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

// endsWithin reports whether the leader exits and standard error is closed within d.
func (p *Process) endsWithin(d time.Duration) bool {
	until := time.Now().Add(d)
	return closedWithin(p.exited, d) && closedWithin(p.stderr.eof, time.Until(until))
}

// closedWithin waits up to d for c to be closed, and reports whether it is.
func closedWithin(c <-chan struct{}, d time.Duration) bool {
	select { // a closed channel counts even if d is 0
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
