package main

import (
	"fmt"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/toolsetcmd"
)

const rootHelp = `toolman is one MCP server in front of many. It starts the servers that tools.toml
names, offers their tools, resources and prompts over one connection, and lets the
model switch on what it needs with one tool, toolman_activate. Everything else
passes through byte for byte.

Without a command it serves MCP on standard input and output, as MCP clients
start it:

  {"mcpServers": {"toolman": {"command": "toolman", "args": ["--config", "/path/to/tools.toml"]}}}

The smallest useful tools.toml:

  active_toolsets = ["fs_read*"]   # globs on namespace + "_" + name: active at start

  [[servers]]
  namespace = "fs"
  command = "npx -y @modelcontextprotocol/server-filesystem ."

toolman looks for it in the working directory, in the folders above it up to the
repository's root, and in $CLAUDE_PROJECT_DIR; --config or TOOLMAN_CONFIG name another.
"toolman check" says which file was found and whether all of it works.`

// newRootCommand makes toolman without a command, which serves one client.
func newRootCommand(f *flags) *cobra.Command {
	root := &cobra.Command{
		Use:           "toolman",
		Short:         "One MCP server in front of many",
		Long:          rootHelp,
		Args:          cli.NoCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			ctx, _ := signal.NotifyContext(cmd.Context(), syscall.SIGHUP) // until the process ends
			cmd.SetContext(ctx)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, at, err := f.config.Load()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), f, c, at)
		},
	}
	root.PersistentFlags().StringVar(&f.config.Config, "config", "", "configuration `file` (default: tools.toml, see above)")
	root.PersistentFlags().StringVar(&f.engine.LogLevel, "log-level", "info", "what to log on standard error: debug, info, warn or error")
	f.engine.AddTrace(root)
	f.config.AddTask(root)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return cli.Usage(err, "toolman --help lists the flags")
	})
	return root
}

// addCommands adds all commands.
func addCommands(root *cobra.Command, f *flags) {
	root.SetHelpCommand(newHelpCommand())
	addTopics(root)
	root.AddCommand(newServeCommand(f), newCheckCommand(f), newLockCommand(f), newExplainCommand(f), newResolveCommand(&f.config),
		toolsetcmd.New(&f.config, f.stderr), newSchemaCommand(), newVersionCommand(), newTraceCommand(), newTokenCommand(),
		newStdioCommand(f), newToolsCommand(f), newCallCommand(f), newReadCommand(f), newPromptCommand(f),
		newDemoCommand(f), newDemoServerCommand(f))
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "toolman %s %s %s/%s\n", setup.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
