package main

import (
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
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

It is looked for in the working directory, in the folders above it up to the
repository's root, and in $CLAUDE_PROJECT_DIR; --config or TOOLMAN_CONFIG name another.
"toolman check" says which was found and whether all of it works.`

// newRootCommand makes toolman without a command, which serves one client.
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "toolman",
		Short:         "One MCP server in front of many",
		Long:          rootHelp,
		Args:          noCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			ctx, _ := signal.NotifyContext(cmd.Context(), syscall.SIGHUP) // until the process ends
			cmd.SetContext(ctx)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context())
		},
	}
	root.PersistentFlags().StringVar(&a.config, "config", "", "configuration `file` (default: tools.toml, see above)")
	root.PersistentFlags().StringVar(&a.logLevel, "log-level", "info", "what to log on standard error: debug, info, warn or error")
	a.addTraceFlags(root)
	a.addTaskFlags(root)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usage(err, "toolman --help lists the flags")
	})
	return root
}

// addCommands adds all that toolman does when it is started with a command.
func addCommands(root *cobra.Command, a *app) {
	root.AddCommand(newServeCommand(a), newCheckCommand(a), newLockCommand(a), newExplainCommand(a), newResolveCommand(a), newToolsetCommand(a), newSchemaCommand(), newVersionCommand(), newTraceCommand(), newTokenCommand(), newStdioCommand(a), newToolsCommand(a), newCallCommand(a), newReadCommand(a), newPromptCommand(a), newDemoCommand(a), newDemoServerCommand(a))
}

// addTraceFlags gives a command that serves what serve understands.
func (a *app) addTraceFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.trace, "trace", "", "write every message to `file` as JSON lines; - is standard error (also TOOLMAN_TRACE)")
	cmd.Flags().IntVar(&a.traceMax, "trace-max", 1<<20, "how many `bytes` of a message the trace keeps")
}

// noCommand refuses words that are no command.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + near[0] + "?"
	}
	return usage(errors.New("unknown command "+args[0]), hint)
}

// noArguments refuses words behind a command that takes none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(fmt.Errorf("%s takes no arguments, not %q", cmd.CommandPath(), args[0]), cmd.CommandPath()+" --help says what it takes")
}
