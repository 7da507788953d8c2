package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/setup"
)

// flags are the files and the flags that several commands use.
type flags struct {
	stdin, stdout, stderr *os.File
	config                setup.Flags
	engine                engine.Flags
}

// check starts every server of the configuration, without a client.
func (f *flags) check(ctx context.Context) (*config.Config, setup.Location, *engine.Servers, error) {
	c, at, err := f.config.Load()
	if err != nil {
		return nil, at, nil, err
	}
	s, err := engine.Check(ctx, c, f.stderr)
	return c, at, s, err
}

// lower sets the log level of a command, unless --log-level is given.
func (f *flags) lower(cmd *cobra.Command, level string) {
	if !cmd.Flags().Changed("log-level") {
		f.engine.LogLevel = level
	}
}
