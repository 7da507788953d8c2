package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/dialog"
	"toolman/cmd/internal/traces/recording"
	"toolman/mcpwire/sanitize"
	"toolman/spawn"
)

const help = `replay starts COMMAND, sends it the messages of the recorded client, and compares its
responses with the recorded ones. It prints what differs.

It is a dry run: tools are only called if they are read-only (annotations.readOnlyHint), as the new
server lists them. --yes calls all of them.

The order is that of the recording: a message waits for the responses that had arrived before it.
Requests of the server for input get the recorded answers. Messages that the trace has cut, or
has removed secrets from, are not sent. Notifications are not compared.

Exit status 0: no response differs; 1: one does, or did not come. Some differences are ignored,
unless --strict is given:

%s
--ignore PATH ignores a value and all in it, as for toolman trace diff.`

const example = `  toolman trace replay session.jsonl -- npx -y @example/server@next
  toolman trace replay session.jsonl --yes --junit report.xml -- ./server --test
  toolman trace replay session.jsonl -- toolman --config tools.toml`

// defaultTimeout is how long replay waits for a response.
const defaultTimeout = time.Minute

// ladder is how the server is ended.
var ladder = spawn.Ladder{AfterEOF: 2 * time.Second, AfterTerm: 2 * time.Second}

type flags struct {
	Options
	ignore       []string
	strict, last bool
	run, junit   string
}

// New returns the command replay.
func New() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "replay FILE -- COMMAND...",
		Short:   "Send the messages of a recorded client to a new server, and compare the responses",
		Long:    fmt.Sprintf(help, compare.BuiltIn()),
		Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			files := 1
			if f.last {
				files = 0
			}
			if dash := cmd.ArgsLenAtDash(); dash != files || len(args) == dash {
				return cli.Usage(errors.New("replay needs a trace, and the command of a server behind --"), "write toolman trace replay FILE -- COMMAND")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.replay(cmd, args) },
	}
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "call tools that are not read-only, too")
	cmd.Flags().StringArrayVar(&f.ignore, "ignore", nil, "ignore differences at this path; may be repeated")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "do not ignore anything but what --ignore names")
	cmd.Flags().StringVar(&f.run, "run", "", "`number` or name of the session in the file (default the last)")
	cmd.Flags().BoolVar(&f.last, "last", false, "the newest trace that was given no file, in place of FILE")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write a report in JUnit XML to this `file`")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", defaultTimeout, "how long to wait for a response")
	return cmd
}

func (f *flags) replay(cmd *cobra.Command, args []string) error {
	rules, err := compare.NewRules(f.strict, f.ignore)
	if err != nil {
		return err
	}
	f.Rules = rules
	from := recording.Source{Last: f.last, Run: f.run, Stdin: cmd.InOrStdin()}
	if !f.last {
		from.File, args = args[0], args[1:]
	}
	session, err := recording.Read(cmd.Context(), from)
	if err != nil {
		return err
	}
	report, err := run(cmd.Context(), session, args, f.Options, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if _, err := out.Write(report.Text(cli.HasColors(out))); err != nil {
		return err
	}
	if f.junit != "" {
		if err := report.JUnit().WriteFile(f.junit); err != nil {
			return cli.Failed(err, "name another file for --junit")
		}
	}
	if n := report.Mismatches(); n > 0 {
		return cli.Failed(fmt.Errorf("%s differently than in the recording", cli.Count(n, "call")+" ended"), "--ignore leaves out values that may differ")
	}
	return nil
}

// run starts the server, replays the session, and ends the server.
func run(ctx context.Context, s *recording.Session, argv []string, o Options, stderr io.Writer) (*Report, error) {
	reaper, err := spawn.StartReaper()
	if err == nil {
		defer reaper.Close()
	}
	process, err := spawn.Start(spawn.Command{Name: "the server", Argv: argv, Env: os.Environ(),
		Stderr: func(text string) { fmt.Fprintln(stderr, sanitize.Line(text)) }}, reaper)
	if err != nil {
		return nil, cli.Failed(err, "write the command of a server that speaks MCP over stdio behind --")
	}
	conn := dialog.New(process.Stdout(), process.Stdin())
	report, err := Run(ctx, s, conn, o)
	if report.closed { // how it ended is known a moment later
		select {
		case <-process.Done():
		case <-time.After(ladder.AfterEOF):
		}
	}
	report.Exit = process.ExitStatus()
	process.Stop(conn.CloseWrite, ladder)
	conn.Close()
	return report, err
}
