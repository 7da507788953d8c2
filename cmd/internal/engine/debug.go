package engine

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/debugsock"
	"toolman/cmd/internal/traces/files"
	"toolman/router/breakpoint"
)

// OpenDebugger opens the socket of a run with --debug. Call close at the end.
func OpenDebugger(run string, log *zap.Logger) (d *breakpoint.Debugger, socket string, close func(), err error) {
	state, err := files.StateDir()
	if err != nil {
		return nil, "", nil, cli.Failed(err, "let XDG_RUNTIME_DIR or XDG_STATE_HOME name a directory of this user")
	}
	d = breakpoint.New(breakpoint.Options{})
	s, err := debugsock.Listen(run, state, d)
	if errors.Is(err, debugsock.ErrUnsupported) {
		return nil, "", nil, cli.Usage(err, "leave --debug out")
	} else if err != nil {
		return nil, "", nil, cli.Failed(fmt.Errorf("the socket of --debug cannot be opened: %w", err), "let XDG_RUNTIME_DIR or XDG_STATE_HOME name a directory of this user")
	}
	log.Info("debugging: toolman trace open shows the page that stops messages", zap.String("socket", s.Path))
	return d, s.Path, func() {
		d.Close()
		s.Close()
	}, nil
}

// openDebug is OpenDebugger for an engine, if --debug is given.
func (e *Engine) openDebug(f *Flags) (close func(), err error) {
	if !f.Debug {
		return func() {}, nil
	}
	e.RouterOptions.Debug, e.socket, close, err = OpenDebugger(e.RouterOptions.Run, e.Log)
	return close, err
}
