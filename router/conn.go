package router

import (
	"fmt"
	"time"

	"toolman/jsonrpc"
	"toolman/spawn"
)

// A Conn is the connection to one upstream server: a process with pipes, a Unix socket, or
// whatever a Server's Dial makes.
type Conn interface {
	// Out takes what is sent to the server. It is always the same.
	Out() jsonrpc.Sender
	// Start begins reading; h gets everything that comes, one message at a time. ended is
	// closed when h wants nothing more.
	Start(h jsonrpc.Handler, ended <-chan struct{})
	// Stop ends the connection, in good order if that can be had in a moment, and
	// returns when nothing of it is left.
	Stop()
	// Cause says, in a moment, why the connection is over; err is what Closed got.
	Cause(err error) string
	// LastWords are what the server has said lately beside the protocol, "" for nothing.
	LastWords() string
	// String says what is at the other end, without secrets.
	String() string
}

// A pipe is the connection to a server that toolman has started.
type pipe struct {
	peer   *jsonrpc.Peer
	proc   *spawn.Process
	ladder func() spawn.Ladder // how long the process has that is to end now
}

// Out implements Conn.
func (p *pipe) Out() jsonrpc.Sender { return p.peer }

// startPipe starts a command and makes a connection of its pipes.
func startPipe(command spawn.Command, guard *spawn.Guard, loop *jsonrpc.Loop, frameLimit int, ladder func() spawn.Ladder) (*pipe, error) {
	proc, err := spawn.Start(command, guard)
	if err != nil {
		return nil, err
	}
	peer, err := loop.Peer(proc.Stdout(), proc.Stdin(), jsonrpc.PeerOptions{FrameLimit: frameLimit})
	if err != nil {
		proc.Stop(nil, spawn.Ladder{})
		return nil, err
	}
	return &pipe{peer, proc, ladder}, nil
}

// lastBytes is how long a process that has ended may have output on its way, or a
// child of it may hold its pipes.
const lastBytes = 250 * time.Millisecond

// Start implements Conn.
func (p *pipe) Start(h jsonrpc.Handler, ended <-chan struct{}) {
	p.peer.Start(h)
	go p.wait(ended)
}

// wait sees the process end.
func (p *pipe) wait(ended <-chan struct{}) {
	<-p.proc.Done()
	select {
	case <-ended:
	case <-time.After(lastBytes):
	}
	p.proc.KillGroup()
	p.peer.Close()
}

// Stop implements Conn.
func (p *pipe) Stop() {
	p.proc.Stop(p.peer.CloseWrite, p.ladder())
	p.peer.Close()
}

// Cause implements Conn.
func (p *pipe) Cause(err error) string {
	select {
	case <-p.proc.Done():
		return "it ended with " + p.proc.ExitStatus()
	case <-time.After(150 * time.Millisecond):
		return "it closed its output: " + err.Error()
	}
}

// LastWords implements Conn.
func (p *pipe) LastWords() string { return p.proc.StderrTail() }

// String implements Conn.
func (p *pipe) String() string { return fmt.Sprintf("pid %d", p.proc.Pid()) }
