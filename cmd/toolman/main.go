// Toolman is one MCP server in front of many. This package holds its commands; the packages below
// cmd/internal do their work.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/sanitize"
	"toolman/spawn"
)

func main() {
	if len(os.Args) >= 2 && os.Args[1] == "__guard" {
		os.Exit(spawn.RunReaper(os.Args[2:], os.Stdin))
	}
	keepPrivate()
	growStack()
	// A client that has closed stderr or stdout must not end toolman by SIGPIPE:
	// that would skip the end of the servers.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	f := &flags{stdin: stdin, stdout: stdout, stderr: stderr}
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
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(stderr, "toolman: error: %s\n", sanitize.Lines(err.Error()))
		if hint := cli.Hint(err); hint != "" {
			fmt.Fprintf(stderr, "toolman: hint: %s\n", sanitize.Lines(hint))
		}
		return cli.Code(err)
	}
	return cli.ExitOK
}
