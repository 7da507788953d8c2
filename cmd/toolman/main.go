package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/doctor"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/initcmd"
	"toolman/cmd/internal/installcmd"
	"toolman/cmd/internal/lockcmd"
	"toolman/cmd/internal/logincmd"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/servercmd"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/stdio"
	"toolman/cmd/internal/tap"
	"toolman/cmd/internal/toolsetcmd"
	"toolman/cmd/internal/traces"
	"toolman/cmd/internal/usage"
	"toolman/mcpwire/sanitize"
	"toolman/spawn"
)

func main() {
	if len(os.Args) >= 2 && os.Args[1] == "__guard" {
		os.Exit(spawn.RunReaper(os.Args[2:], os.Stdin))
	}
	keepPrivate()
	if len(os.Args) == 2 && os.Args[1] == logins.Renew {
		os.Exit(logins.RunRenewal(os.Stdin, os.Stdout))
	}
	growStack()
	// A client that has closed stderr or stdout must not end toolman by SIGPIPE:
	// that would skip the end of the servers.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	endWithLauncher()
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// growStack makes the stack large enough for the start while it is nearly empty. To grow it later,
// in deep calls, the runtime reads its tables of all functions on it, which is 0.35 MB of the 12 MB
// that an idle toolman may need.
//
//go:noinline
func growStack() byte {
	var room [10 << 10]byte
	return room[len(os.Args)%len(room)]
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdin, stdout, stderr *os.File) int {
	f := &engine.Flags{Flags: setup.Flags{Stdin: stdin}, Stdout: stdout, Stderr: stderr}
	root := newRootCommand(f)
	// Clients start toolman without a command, so make the commands only if there is one. Parsing
	// the flags twice is harmless: none of them is a list.
	if err := root.ParseFlags(args); err != nil || root.Flags().NArg() > 0 {
		addCommands(root, f)
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if cmd, err := root.ExecuteContextC(ctx); err != nil {
		fmt.Fprintf(stderr, "toolman: error: %s\n", sanitize.Lines(err.Error()))
		if hint := cli.Hint(err); hint != "" {
			fmt.Fprintf(stderr, "toolman: hint: %s\n", sanitize.Lines(hint))
		}
		if !f.Served && (cmd == root || cmd.Name() == stdioCommand && cli.Code(err) == cli.ExitUsage) {
			refuse(ctx, err, stdin, stdout)
		}
		return cli.Code(err)
	}
	return cli.ExitOK
}

// refuse tells the client on standard input why toolman does not serve it. Clients show an answer,
// and not what a server writes to standard error.
func refuse(ctx context.Context, err error, stdin, stdout *os.File) {
	why := "toolman does not start: " + sanitize.Lines(err.Error())
	if hint := cli.Hint(err); hint != "" {
		why += "; " + sanitize.Lines(hint)
	}
	stdio.Refuse(ctx, why, stdin, stdout) // that it fails is of no interest beside the error itself
}

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
repository's root, in $CLAUDE_PROJECT_DIR, and in ~/.config/toolman; --config or
TOOLMAN_CONFIG name another, and TOOLMAN_CONFIG_JSON may hold the configuration itself.
"toolman init" makes it of the servers that your MCP clients have.
"toolman check" says which file was found and whether all of it works.`

// newRootCommand makes toolman without a command, which serves one client.
func newRootCommand(f *engine.Flags) *cobra.Command {
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
			f.Taken = true
			c, err := f.Load()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), f, c)
		},
	}
	root.PersistentFlags().StringVar(&f.Config, "config", "", "configuration `file` (default: tools.toml, see above); - is standard input")
	root.PersistentFlags().StringVar(&f.LogLevel, "log-level", "info", "what to log on standard error: debug, info, warn or error")
	f.AddTrace(root)
	f.AddDebug(root)
	f.AddTask(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(err, cmd.CommandPath()+" --help lists the flags")
	})
	return root
}

// addCommands adds all commands.
func addCommands(root *cobra.Command, f *engine.Flags) {
	root.SetHelpCommand(newHelpCommand())
	addTopics(root)
	root.AddCommand(slices.Concat(initcmd.Commands(f), installcmd.Commands(&f.Flags), servercmd.New(&f.Flags), logincmd.New(&f.Flags, f.Stderr))...)
	root.AddCommand(newServeCommand(f), newCheckCommand(f), lockcmd.New(f), newExplainCommand(f), newResolveCommand(f),
		toolsetcmd.New(f), usage.New(&f.Flags), newSchemaCommand(), newVersionCommand(), traces.New(), tap.New(), newTokenCommand(),
		newStdioCommand(f), newToolsCommand(f), newSearchCommand(f), newCallCommand(f), newReadCommand(f), newPromptCommand(f),
		newCacheCommand(), newDemoCommand(f), newDemoServerCommand(f), doctor.New(f))
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
