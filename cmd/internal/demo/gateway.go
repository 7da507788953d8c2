package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	maxLine   = 4 << 20         // of an answer
	endTime   = 5 * time.Second // for an orderly end
	abortTime = time.Second     // for one that nobody waits for
)

// A gateway is toolman as a process of its own, with this one as its client.
type gateway struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte   // what it writes; closed at the end
	done  chan struct{} // closed when nobody reads lines any more
	ended bool
}

// startGateway runs program on a configuration. It logs to log.
func startGateway(program, config, trace string, log *os.File) (*gateway, error) {
	g := &gateway{lines: make(chan []byte), done: make(chan struct{})}
	g.cmd = exec.Command(program, "--config", config, "--trace", trace)
	g.cmd.Stderr = log
	stdout, err := g.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if g.stdin, err = g.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the gateway: %w", err)
	}
	go g.read(stdout)
	return g, nil
}

// read passes the gateway's lines on until they end or nobody wants them.
func (g *gateway) read(stdout io.Reader) {
	defer close(g.lines)
	in := bufio.NewScanner(stdout)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		select {
		case g.lines <- append([]byte(nil), in.Bytes()...):
		case <-g.done:
		}
	}
}

// line waits for the next line.
func (g *gateway) line(ctx context.Context) ([]byte, error) {
	select {
	case line, ok := <-g.lines:
		if !ok {
			return nil, errors.New("the gateway has closed the connection")
		}
		return line, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// end closes the connection and waits for the gateway to end, which it does by itself; after the time it is killed. Only the
// first call does anything.
func (g *gateway) end(within time.Duration) error {
	if g.ended {
		return nil
	}
	g.ended = true
	close(g.done)
	g.stdin.Close()
	timer := time.AfterFunc(within, func() { _ = g.cmd.Process.Kill() }) // it may have ended just now
	for range g.lines {
	}
	err := g.cmd.Wait()
	switch {
	case !timer.Stop():
		return fmt.Errorf("the gateway did not end within %v of its client's leaving", within)
	case err != nil:
		return fmt.Errorf("the gateway ended with %w", err)
	}
	return nil
}
