package dial

import (
	"fmt"
	"strings"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/spawn"
)

// A process is the connection to a server that toolman has started.
type process struct {
	peer   *peer.Peer
	proc   *spawn.Process
	ladder func() spawn.Ladder // how long the process may take to end
}

// Process starts a command and connects to its pipes. Stop calls ladder for how long the process
// may take to end.
func Process(command spawn.Command, reaper *spawn.Reaper, loop *peer.Loop, frameLimit int, ladder func() spawn.Ladder) (Conn, error) {
	proc, err := spawn.Start(command, reaper)
	if err != nil {
		return nil, err
	}
	peer, err := loop.Peer(proc.Stdout(), proc.Stdin(), peer.Options{FrameLimit: frameLimit})
	if err != nil {
		proc.Stop(nil, spawn.Ladder{})
		return nil, err
	}
	return &process{peer, proc, ladder}, nil
}

// The time in which the output of a process that has ended may still be written, if one of its
// children keeps the pipe open, and be read, which takes long on a busy machine.
const lastBytes, lastReads = 250 * time.Millisecond, 5 * time.Second

// Out implements Conn.
func (p *process) Out() peer.Sender { return p.peer }

// Start implements Conn.
func (p *process) Start(h peer.Handler, ended <-chan struct{}) {
	p.peer.Start(h)
	go p.wait(ended)
}

// wait waits for the end of the process and cleans up after it.
func (p *process) wait(ended <-chan struct{}) {
	<-p.proc.Done()
	over := within(lastBytes, ended)
	p.proc.KillGroup()
	for late := time.Now().Add(lastReads); !over && unread(p.proc.Stdout()) && time.Now().Before(late); {
		over = within(10*time.Millisecond, ended)
	}
	p.peer.Close()
}

// within waits up to d for c to be closed, and reports whether it is.
func within(d time.Duration, c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(d):
		return false
	}
}

// Stop implements Conn.
func (p *process) Stop() {
	p.proc.Stop(p.peer.CloseWrite, p.ladder())
	p.peer.Close()
}

// The time in which a process that has closed its output may end, so that its status is the cause.
// One that has closed its input as well is ending, which takes long on a busy machine.
const mayEnd, isEnding = 150 * time.Millisecond, 5 * time.Second

// Cause implements Conn.
func (p *process) Cause(err error) (why string, failed bool) {
	if !within(mayEnd, p.proc.Done()) && !(p.peer.Gone() && within(isEnding, p.proc.Done())) {
		return "it closed its output: " + err.Error(), true
	}
	status := p.proc.ExitStatus()
	if strings.HasPrefix(status, "killed") {
		return "it was " + status, true
	}
	return "it ended with " + status, !p.proc.Succeeded()
}

// LastWords implements Conn.
func (p *process) LastWords() string { return p.proc.StderrTail() }

// String implements Conn.
func (p *process) String() string { return fmt.Sprintf("pid %d", p.proc.Pid()) }

// PipeSize returns the size in bytes of the pipes of a server, if there are so many servers. Large
// pipes halve the cost of large messages. But Linux limits the pipes of a user to 64 MiB in total,
// and makes later ones tiny.
func PipeSize(servers int) int {
	if servers <= 8 {
		return 1 << 20
	}
	return 128 << 10
}
