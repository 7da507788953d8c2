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

// lastBytes is how long output of an ended process may still be on its way, or one of its
// children may keep the pipes open.
const lastBytes = 250 * time.Millisecond

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
	select {
	case <-ended:
	case <-time.After(lastBytes):
	}
	p.proc.KillGroup()
	p.peer.Close()
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
	if !p.endsWithin(mayEnd) && !(p.peer.Gone() && p.endsWithin(isEnding)) {
		return "it closed its output: " + err.Error(), true
	}
	status := p.proc.ExitStatus()
	if strings.HasPrefix(status, "killed") {
		return "it was " + status, true
	}
	return "it ended with " + status, !p.proc.Succeeded()
}

// endsWithin reports whether the process ends within d.
func (p *process) endsWithin(d time.Duration) bool {
	select {
	case <-p.proc.Done():
		return true
	case <-time.After(d):
		return false
	}
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
