package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Options say how a demo is run.
type Options struct {
	Program string        // the toolman to show: an absolute path
	Name    string        // what the user calls it, for what is said at the end
	Keep    bool          // leave the temporary directory where it is, with the trace and the log
	Limit   time.Duration // for all of it
	Stdout  io.Writer
}

// Run plays the demo and returns nil if everything was as expected; an error says which step was not, and why. It is over soon
// after ctx is done, or after Stdout is closed, as by head, which is no error. It leaves no process behind, and no file but those
// that Keep asks for.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Limit, fmt.Errorf("the demo was not over within %v", o.Limit))
	defer cancel()
	dir, err := os.MkdirTemp("", "toolman-demo-")
	if err != nil {
		return err
	}
	s := newScreen(o.Stdout)
	err = play(ctx, s, o.Program, dir)
	if errors.Is(err, errUnseen) {
		err = nil
	}
	if err == nil {
		s.closing(o.Name)
	}
	if o.Keep {
		s.kept(o.Name, dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// play starts a gateway in dir, goes through the script and ends the gateway.
func play(ctx context.Context, s *screen, program, dir string) error {
	config, err := WriteConfig(dir, program)
	if err != nil {
		return err
	}
	s.opening(program)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	trace, err := newTail(filepath.Join(dir, traceName))
	if err != nil {
		return err
	}
	defer trace.file.Close()
	g, err := startGateway(program, config, trace.file.Name(), log)
	if err != nil {
		return err
	}
	c := &conversation{screen: s, client: &client{gateway: g}, trace: trace}
	if err = c.play(ctx); err != nil {
		_ = g.end(abortTime) // what went wrong before is to be told
		s.failed(log)
	}
	return err
}
