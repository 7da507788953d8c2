package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/demo"
	"toolman/cmd/internal/demo/demoserver"
)

// demoTime is how long the demo may take. It takes half a second.
const demoTime = 15 * time.Second

func newDemoCommand(a *app) *cobra.Command {
	var serve, keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what toolman does, with two servers that are built in",
		Long: `demo starts toolman on a tools.toml of its own in a temporary directory, with two small
servers behind it that are built into this program, talks to it as an MCP client does,
and shows the messages. It needs nothing else and leaves nothing behind. The exit code
is 0 when everything was as expected, else 1.

With --serve it is an MCP server on standard input and output, as toolman without a
command is, with the same two servers behind it:

  {"mcpServers": {"demo": {"command": "toolman", "args": ["demo", "--serve"]}}}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return usage(errors.New("demo takes no arguments"), "toolman demo --help lists its flags")
			case serve && keep:
				return usage(errors.New("demo takes --serve or --keep, not both"), "--serve --trace FILE writes a trace, too")
			case a.config != "":
				return usage(errors.New("demo takes no --config"), "it has a configuration of its own")
			case serve:
				return a.serveDemo(cmd.Context())
			case a.trace != "":
				return usage(errors.New("demo takes --trace only with --serve"), "demo --keep keeps the trace of what it shows")
			}
			return a.demo(cmd.Context(), keep)
		},
	}
	a.addTraceFlags(cmd)
	cmd.Flags().BoolVar(&serve, "serve", false, "be an MCP server, with the two servers behind it")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the temporary directory, with the trace")
	return cmd
}

func (a *app) demo(ctx context.Context, keep bool) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return demo.Run(ctx, demo.Options{Program: program, Name: os.Args[0], Keep: keep, Limit: demoTime, Stdout: a.stdout})
}

// serveDemo serves on the demo's configuration. Its file is gone when it begins: a client may kill toolman at any time.
func (a *app) serveDemo(ctx context.Context) error {
	c, err := a.loadDemo()
	if err != nil {
		return err
	}
	return a.serveConfig(ctx, c, config.Location{Path: c.Path, Why: "made for demo --serve"})
}

func (a *app) loadDemo() (*config.Config, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "toolman-demo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if a.config, err = demo.WriteConfig(dir, program); err != nil {
		return nil, err
	}
	c, _, err := a.load()
	return c, err
}

// newDemoServerCommand is how the demo starts its servers: this program again.
func newDemoServerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "__demo-server NAME",
		Hidden:    true,
		ValidArgs: demoserver.Names(),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return demoserver.Run(cmd.Context(), args[0], a.stdin, a.stdout)
		},
	}
}
