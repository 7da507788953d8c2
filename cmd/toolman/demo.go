package main

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/demo"
	"toolman/cmd/internal/demo/demoserver"
	"toolman/cmd/internal/engine"
)

// demoTime is how long the demo may take. It usually takes half a second, and much longer on a
// busy machine.
const demoTime = 2 * time.Minute

func newDemoCommand(f *engine.Flags) *cobra.Command {
	var serving, keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what toolman does, with two built-in servers",
		Long: `demo starts toolman on a tools.toml of its own in a temporary directory, with two small
built-in servers behind it, talks to it as an MCP client does, and shows the messages. It
needs nothing else and leaves nothing behind. The exit code is 0 if everything was as
expected, else 1.

With --serve it is an MCP server on standard input and output, like toolman without a
command, with the same two servers behind it:

  {"mcpServers": {"demo": {"command": "toolman", "args": ["demo", "--serve"]}}}`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case serving && keep:
				return cli.Usage(errors.New("demo takes --serve or --keep, not both"), "--serve --trace FILE writes a trace, too")
			case f.Config != "":
				return cli.Usage(errors.New("demo takes no --config"), "it has a configuration of its own")
			case f.Trace != "" && !serving:
				return cli.Usage(errors.New("demo takes --trace only with --serve"), "demo --keep keeps the trace of what it shows")
			}
			program, err := os.Executable()
			if err != nil {
				return err
			}
			if !serving {
				return demo.Run(cmd.Context(), demo.Options{Program: program, Name: os.Args[0], Keep: keep, Limit: demoTime, Stdout: f.Stdout})
			}
			c, err := loadDemo(f, program)
			if err != nil {
				return err
			}
			c.Why = "made for demo --serve"
			return serve(cmd.Context(), f, c)
		},
	}
	f.AddTrace(cmd)
	cmd.Flags().BoolVar(&serving, "serve", false, "be an MCP server, with the two servers behind it")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the temporary directory, with the trace")
	return cmd
}

// loadDemo writes, loads and removes the demo's configuration. It removes the file right away since
// a client may kill toolman at any time.
func loadDemo(f *engine.Flags, program string) (*config.Config, error) {
	dir, err := os.MkdirTemp("", "toolman-demo-")
	if err != nil {
		return nil, err
	}
	defer demo.Remove(dir)
	if f.Config, err = demo.WriteConfig(dir, program); err != nil {
		return nil, err
	}
	return f.Load()
}

// newDemoServerCommand makes the command with which the demo starts its servers.
func newDemoServerCommand(f *engine.Flags) *cobra.Command {
	return &cobra.Command{
		Use:       "__demo-server NAME",
		Hidden:    true,
		ValidArgs: demoserver.Names(),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return demoserver.Run(cmd.Context(), args[0], f.Stdin, f.Stdout)
		},
	}
}
