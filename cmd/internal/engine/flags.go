package engine

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/setup"
)

// Flags are the process's standard files and the flags that several commands have.
type Flags struct {
	setup.Flags
	Stdin, Stdout, Stderr *os.File

	LogLevel string // --log-level
	Trace    string // --trace
	TraceMax int    // --trace-max
}

// AddTrace gives a command the flags --trace and --trace-max.
func (f *Flags) AddTrace(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Trace, "trace", "", "write every message to `file` as JSON lines; - is standard error (also TOOLMAN_TRACE)")
	cmd.Flags().IntVar(&f.TraceMax, "trace-max", 1<<20, "how many `bytes` of a message the trace keeps")
}

// DefaultLogLevel sets the log level of a command, unless --log-level is given.
func (f *Flags) DefaultLogLevel(cmd *cobra.Command, level string) {
	if !cmd.Flags().Changed("log-level") {
		f.LogLevel = level
	}
}

// Check loads the configuration and starts its servers, as the function Check does.
func (f *Flags) Check(ctx context.Context) (*config.Config, *Servers, error) {
	c, err := f.Load()
	if err != nil {
		return nil, nil, err
	}
	s, err := Check(ctx, c, f.Stderr)
	return c, s, err
}
