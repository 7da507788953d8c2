package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire/sanitize"
	"toolman/spawn"
)

func main() {
	if len(os.Args) >= 2 && os.Args[1] == "__guard" {
		os.Exit(spawn.RunGuard(os.Args[2:], os.Stdin))
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

// growStack makes the stack large enough for the start while it is nearly empty. To grow it later, in
// deep calls, the runtime reads its tables of all functions on it, which is 0.35 MB of the 12 MB that an
// idle toolman may need.
//
//go:noinline
func growStack() byte {
	var room [10 << 10]byte
	return room[len(os.Args)%len(room)]
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong flags or a wrong configuration
)

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, stdin, stdout, stderr *os.File) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRootCommand(a)
	// Clients name no command and do not want to wait until all are made. To parse the flags
	// twice changes nothing: none of them is a list.
	if err := root.ParseFlags(args); err != nil || root.Flags().NArg() > 0 {
		addCommands(root, a)
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(stderr, "toolman: error: %s\n", sanitize.Lines(err.Error()))
		if hint := hintOf(err); hint != "" {
			fmt.Fprintf(stderr, "toolman: hint: %s\n", sanitize.Lines(hint))
		}
		return codeOf(err)
	}
	return exitOK
}

// app is what the commands share.
type app struct {
	stdin, stdout, stderr *os.File

	config   string // --config
	agent    string // --agent
	service  string // --service
	task     string // --task
	trace    string // --trace
	traceMax int    // --trace-max
	logLevel string // --log-level

	secrets    *trace.Scrubber     // of the log, once it is open
	progress   *progress           // of the servers' start, which the log goes through; nil: it is not shown
	guard      func() *spawn.Guard // of the servers, once it is started
	sessionKey [32]byte            // makes hashes of what sessions say of themselves
}
