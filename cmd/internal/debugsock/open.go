package debugsock

import (
	"errors"
	"fmt"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
	"toolman/router/breakpoint"
)

// Open makes the Debugger of a run with --debug, and opens its socket. Call close at the end.
func Open(run string) (d *breakpoint.Debugger, socket string, close func(), err error) {
	const hint = "let XDG_RUNTIME_DIR or XDG_STATE_HOME name a directory of this user"
	state, err := files.StateDir()
	if err != nil {
		return nil, "", nil, cli.Failed(err, hint)
	}
	d = breakpoint.New(breakpoint.Options{})
	s, err := Listen(run, state, d)
	if errors.Is(err, ErrUnsupported) {
		return nil, "", nil, cli.Usage(err, "leave --debug out")
	} else if err != nil {
		return nil, "", nil, cli.Failed(fmt.Errorf("the socket of --debug cannot be opened: %w", err), hint)
	}
	return d, s.Path, func() {
		d.Close()
		s.Close()
	}, nil
}
