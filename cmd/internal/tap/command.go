package tap

import (
	"crypto/rand"
	"errors"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/debugsock"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/tap/record"
	"toolman/cmd/internal/traces/files"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/redact"
	"toolman/router/breakpoint"
)

const help = `tap stands between a client and one server, and traces every message. It needs no configuration:
write "toolman tap --" before the command of the server in the client's entry.

The server runs as it would without: every byte of standard input, output and error passes
unchanged and at once, signals too, and tap ends with the server, as the server did. tap itself
writes nothing there.

With --http, tap listens at an address and passes all requests on to the origin of URL, as they
are. Let the client use that address in place of the server's.

Without --trace, each run writes a trace of its own, which toolman trace list lists.`

const example = `  toolman tap -- npx -y @modelcontextprotocol/server-everything
  toolman tap --http https://example.com/mcp --listen 127.0.0.1:8931
  toolman trace --last -f                         follow it, in another terminal`

const traceQueue = 32 << 20 // bytes of the trace that may wait for a slow disk

// A command is the flags of tap.
type command struct {
	trace          string
	traceMax       int
	target, listen string // over HTTP
	debug          bool
}

// New returns the command tap.
func New() *cobra.Command {
	var c command
	cmd := &cobra.Command{
		Use:     "tap [flags] (-- COMMAND [argument]... | --http URL)",
		Short:   "Trace what passes between a client and one server",
		Long:    help,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case c.target != "" && c.debug:
				return cli.Usage(errors.New("tap --debug works on standard input and output, not with --http"), "add the server to a tools.toml, and start toolman serve --debug")
			case c.target != "" && len(args) > 0:
				return cli.Usage(errors.New("tap takes a command or --http, not both"), "the command of a server that is reached over HTTP runs by itself")
			case c.target != "":
			case len(args) == 0 || args[0] == "":
				return cli.Usage(errors.New("tap needs the command of a server"), "toolman tap -- npx -y @modelcontextprotocol/server-everything")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.target != "" {
				return c.http(cmd.Context(), cmd.ErrOrStderr())
			}
			return c.stdio(args)
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the command is its own
	cmd.Flags().StringVar(&c.target, "http", "", "tap the server at this `URL` instead")
	cmd.Flags().StringVar(&c.listen, "listen", "127.0.0.1:0", "with --http: the `address` for clients; 0 is a free port")
	cmd.Flags().StringVar(&c.trace, "trace", "", "append every message to `file` as JSON lines (also TOOLMAN_TRACE; default: auto, a file that toolman trace list lists)")
	cmd.Flags().BoolVar(&c.debug, "debug", false, "let the page of toolman trace open stop and change messages")
	cmd.Flags().IntVar(&c.traceMax, "trace-max", 1<<20, "how many `bytes` of a message the trace keeps, at most 4 MiB")
	return cmd
}

// stdio taps a server that it starts, and ends the program as the server ends.
func (c *command) stdio(argv []string) error {
	t := &tap{argv: argv, name: serverName(argv)}
	s := trace.Session{Run: newRun(), Tap: t.name, Upstreams: []trace.Server{{Name: t.name, Command: strings.Join(argv, " ")}}}
	closeDebugger := func() {}
	var err error
	if c.debug {
		if t.debugger, s.Debug, closeDebugger, err = debugsock.Open(s.Run); err != nil {
			return err
		}
	}
	rec, err := c.record(s, secretsOf(os.Environ(), argv), t.debugger)
	if err != nil {
		closeDebugger()
		return err
	}
	t.rec = rec
	status, err := t.run(os.Stdin, os.Stdout, os.Stderr)
	closeDebugger()
	rec.Close(flushTime)
	if err != nil {
		return err
	}
	end(status)
	return nil
}

func newRun() string { return strings.ToLower(rand.Text()[:6]) }

// record opens the trace of a session, which says what is tapped. The trace has what d does, too; d
// may be nil.
func (c *command) record(s trace.Session, secrets []string, d *breakpoint.Debugger) (*record.Recorder, error) {
	path := c.trace
	if path == "" {
		path = os.Getenv("TOOLMAN_TRACE")
	}
	if path == "-" {
		return nil, cli.Usage(errors.New("tap cannot write its trace to standard error, which is the server's"), "name a file, or leave --trace out and see toolman trace list")
	}
	var file *os.File
	var err error
	if path == "" || path == files.Auto {
		file, err = files.Create(s.Run, s.Tap)
	} else {
		file, err = trace.Open(path)
	}
	if err != nil {
		return nil, cli.Usage(err, "let --trace name a file in a folder that exists and may be written to")
	}
	s.Toolman, s.Go = setup.Version(), runtime.Version()
	s.Cwd, _ = os.Getwd()
	w := trace.NewWriter(file, trace.Options{Session: s, Secrets: redact.NewSecrets(secrets...), MaxMsg: c.traceMax, QueueBytes: traceQueue})
	d.TraceTo(w)
	return record.New(w, s.Tap), nil
}
