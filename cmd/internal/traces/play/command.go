package play

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/dialog"
	"toolman/cmd/internal/traces/recording"
)

const help = `play is an MCP server on standard input and output that answers from a recording. Start it in
place of the server that was recorded.

A request gets the answer to the recorded one with the same method, name and arguments: the
recorded answers in order, then the last one again. Progress, log messages and requests for
input come again, too, without delay; the client's answers are compared with the recorded ones.
An unknown request gets an error that says which recorded one is closest, and how it differs.

When the client ends, play says on standard error what was not as recorded. Exit status 0: all
was; 1: something was not. Some differences are ignored, unless --strict is given:

%s
--ignore PATH ignores a value and all in it, as for toolman trace diff.`

const example = `  toolman trace play session.jsonl
  toolman trace play session.jsonl --junit report.xml --ignore params.arguments.seed
  npx -y @modelcontextprotocol/inspector toolman trace play session.jsonl`

// flushTimeout is how long the last messages may take.
const flushTimeout = 5 * time.Second

// New returns the command play.
func New() *cobra.Command {
	var ignore []string
	var strict, last bool
	var run, report string
	cmd := &cobra.Command{
		Use:     "play FILE",
		Short:   "Be an MCP server that answers from a recording",
		Long:    fmt.Sprintf(help, compare.BuiltIn()),
		Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if last {
				return cli.NoArgs(cmd, args)
			}
			return cli.Args(1, 1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			rules, err := compare.NewRules(strict, ignore)
			if err != nil {
				return err
			}
			from := recording.Source{Last: last, Run: run}
			if !last {
				from.File = args[0]
			}
			if from.File == "-" {
				return cli.Usage(errors.New("play reads the client from standard input, so the recording cannot be there"), "name a file")
			}
			session, err := recording.Read(cmd.Context(), from)
			if err != nil {
				return err
			}
			return serve(cmd, session, rules, report)
		},
	}
	cmd.Flags().StringArrayVar(&ignore, "ignore", nil, "ignore differences at this path; may be repeated")
	cmd.Flags().BoolVar(&strict, "strict", false, "do not ignore anything but what --ignore names")
	cmd.Flags().StringVar(&run, "run", "", "`number` or name of the session in the file (default the last)")
	cmd.Flags().BoolVar(&last, "last", false, "the newest trace that was given no file, in place of FILE")
	cmd.Flags().StringVar(&report, "junit", "", "write a report in JUnit XML to this `file`")
	return cmd
}

// serve plays the session on standard input and output.
func serve(cmd *cobra.Command, s *recording.Session, rules *compare.Rules, junit string) error {
	out := &closing{Writer: cmd.OutOrStdout(), closed: make(chan struct{})}
	conn := dialog.New(io.NopCloser(cmd.InOrStdin()), out)
	report := Serve(cmd.Context(), s, conn, rules)
	conn.CloseWrite()
	select {
	case <-out.closed:
	case <-time.After(flushTimeout):
	}
	conn.Close()
	stderr := cmd.ErrOrStderr()
	stderr.Write(report.Text(cli.HasColors(stderr)))
	if junit != "" {
		if err := report.JUnit().WriteFile(junit); err != nil {
			return cli.Failed(err, "name another file for --junit")
		}
	}
	if n := report.Wrong(); n > 0 {
		return cli.Failed(fmt.Errorf("%s not as recorded", cli.CountIs(n, "message")), "--ignore leaves out values that may differ; record the session again if the client has changed")
	}
	return nil
}

// closing is standard output, which is not closed: it only says when all is written.
type closing struct {
	io.Writer
	closed chan struct{}
	done   bool
}

// Close implements io.Closer. The writing goroutine and Conn.Close call it, the second after the
// first.
func (c *closing) Close() error {
	if !c.done {
		c.done = true
		close(c.closed)
	}
	return nil
}
