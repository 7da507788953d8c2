package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/jsonrpc"
	"toolman/router"
	"toolman/spawn"
)

func newCheckCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Start every server of tools.toml and say how it is",
		Long: `check finds and reads the configuration, starts every server in it, asks it for all it
offers and ends it again. It waits for a server as long as a toolman that serves does, six
times its start_timeout, and shows on standard error how they start. It prints what each
server is and how long it took, names that collide or that clients may refuse, what
tools.lock holds back, what toolsets leave out, patterns that fit nothing, and what the list
of active tools costs a model. What is wrong is marked with !. The exit code is 0 when
nothing is, 1 when something is, and 2 when the configuration cannot be used.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.check(cmd.Context(), cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.addTaskFlags(cmd)
	return cmd
}

// check starts everything once and prints what it found.
func (a *app) check(ctx context.Context, out io.Writer, asJSON bool) error {
	c, at, err := a.load()
	if err != nil {
		return err
	}
	r, err := a.startChecked(ctx, c)
	if err != nil {
		return err
	}
	report := newReport(at, c, r.Router)
	r.Close()
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(report)
	} else {
		err = report.print(out)
	}
	if errors.Is(err, syscall.EPIPE) { // who reads it has seen enough
		err = nil
	}
	if err == nil && !report.OK {
		err = &exitError{errors.New("not all is well"), exitFailed, "see what is marked with ! above"}
		if asJSON {
			err = &exitError{errors.New("not all is well"), exitFailed, `see "problems"`}
		}
	}
	return err
}

// startChecked starts every server for a client that cannot do anything, with policies
// and pins.
func (a *app) startChecked(ctx context.Context, c *config.Config) (*started, error) {
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	if err := addPins(&o, c); err != nil {
		return nil, err
	}
	_ = equip(&o, c) // the report says why there is none
	a.progress = newProgress(a.stderr, c.Secrets, false)
	return a.startAll(ctx, o, zap.NewNop(), (*router.Router).Greet)
}

// startAll starts every server, waits until each is ready or gone, and shows that; greet says
// what they are told of a client. What came of it ends with the router.
func (a *app) startAll(ctx context.Context, o router.Options, log *zap.Logger, greet func(*router.Router)) (*started, error) {
	loop, err := jsonrpc.NewLoop()
	if err != nil {
		return nil, err
	}
	guard, err := spawn.StartGuard()
	if err != nil {
		guard = nil // what is started here is ended here; the guard is for the unforeseen
	}
	o.Signalled = ctx
	s := &started{router.New(o, loop, log), loop, guard}
	s.Await("")
	s.Start(guard)
	greet(s.Router)
	if err := a.progress.follow(ctx, s.Router); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// started are all servers, without a client.
type started struct {
	*router.Router
	loop  *jsonrpc.Loop
	guard *spawn.Guard
}

// Close ends them.
func (s *started) Close() {
	s.Router.Close()
	s.guard.Close()
	s.loop.Close()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
