package hook

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"

	"toolman/mcpwire/sanitize"
	"toolman/spawn"
)

const (
	maxLines = 100             // of a command's output that are logged
	maxLine  = 4 << 10         // bytes of one
	pipeSize = 64 << 10        // bytes
	drain    = 5 * time.Second // for output that is still on its way when a command has ended
)

// run runs a command with this input and waits for its end.
func (r *Runner) run(c *Command, input []byte) error {
	var reaper *spawn.Reaper
	if r.reaper != nil {
		reaper = r.reaper()
	}
	log := func(line string) { r.log.Info(line, zap.String("command", c.Name)) }
	command := c.Command
	command.Name, command.PipeSize, command.Stderr = c.Name, pipeSize, log
	p, err := spawn.Start(command, reaper)
	if err != nil {
		return err
	}
	in, out := polled(p.Stdin()), polled(p.Stdout())
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = in.Write(input) // the command need not read it
		_ = in.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		logLines(out, log)
	}()
	err = r.await(p)
	r.finish(read, p.Ended())
	_, _ = out.Close(), in.Close()
	<-read
	<-written
	return err
}

// finish waits until both outputs of a command that has ended are logged, unless a process that has
// left its group keeps one of them open.
func (r *Runner) finish(outputs ...<-chan struct{}) {
	late, closing := time.After(drain), r.closing
	for _, logged := range outputs {
		for open := true; open; {
			select {
			case <-logged:
				open = false
			case <-closing:
				late, closing = time.After(atClose), nil
			case <-late:
				return
			}
		}
	}
}

// await waits until a command has ended, or ends it.
func (r *Runner) await(p *spawn.Process) error {
	over := time.NewTimer(r.limit)
	defer over.Stop()
	var err error
	select {
	case <-p.Done():
	case <-over.C:
		err = fmt.Errorf("it took longer than %v and was ended", r.limit)
		p.Stop(nil, spawn.Ladder{AfterTerm: atClose})
	case <-r.closing:
		if !endsWithin(p, atClose) {
			err = errors.New("toolman ends, and has ended it")
			p.Stop(nil, spawn.Ladder{AfterTerm: atClose})
		}
	}
	p.KillGroup()
	if status := p.ExitStatus(); err == nil && status != "exit status 0" {
		err = errors.New("it ended with " + status)
	}
	return err
}

func endsWithin(p *spawn.Process, d time.Duration) bool {
	select {
	case <-p.Done():
		return true
	case <-time.After(d):
		return false
	}
}

// logLines logs the first lines of a command's output, and reads all of it.
func logLines(out *os.File, log func(string)) {
	in := bufio.NewReaderSize(out, maxLine)
	for n := 0; n < maxLines; n++ {
		line, err := in.ReadSlice('\n')
		if text := sanitize.Line(strings.TrimSpace(string(line))); text != "" {
			log(text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
	_, _ = io.Copy(io.Discard, in)
}
