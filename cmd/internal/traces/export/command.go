package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/traces/calls"
	"toolman/cmd/internal/traces/files"
)

const help = `export writes a trace in the format of another program:

  har      HAR 1.2: an entry for each call, for browsers' developer tools and HAR viewers. The status
           is 200 for success, 403 denied, 404 unknown, 409 inactive, 499 cancelled, 500 an error,
           502 the server is gone, 504 timeout and 0 for a call without an answer.
  otlp     OTLP/JSON: spans after the OpenTelemetry conventions for MCP, one for each leg of a call,
           below the span that _meta.traceparent names; --bodies adds arguments and results
  mermaid  a sequence diagram for Markdown, of at most --limit messages
  csv      a line for each call; a text that a spreadsheet would take for a formula begins with '
  txtar    a dialog in the notation of toolman's own tests, with the configuration and the servers

The filters of toolman trace select the calls.`

const example = `  toolman trace export --format har session.jsonl -o session.har
  toolman trace export --format mermaid session.jsonl call:c41
  toolman trace export --format csv --last 'dur:>1s'`

// defaultLimit is how many messages a diagram has that people can read, and browsers can draw.
const defaultLimit = 200

// Options choose what is written.
type Options struct {
	Version string // of toolman
	Bodies  bool   // also the arguments and results of calls, in otlp
	Limit   int    // messages of a diagram
}

// writer returns the function that writes a format, or nil.
func writer(format string) func(*Trace, Options) ([]byte, error) {
	switch format {
	case "har":
		return HAR
	case "otlp":
		return OTLP
	case "mermaid":
		return Mermaid
	case "csv":
		return CSV
	case "txtar":
		return Txtar
	}
	return nil
}

type flags struct {
	Options
	format, out string
	last        bool
}

// New returns the command export.
func New() *cobra.Command {
	f := flags{}
	cmd := &cobra.Command{
		Use:     "export --format har|otlp|mermaid|csv|txtar FILE [filter]...",
		Short:   "Write a trace as HAR, OTLP, a Mermaid diagram, CSV or a test",
		Long:    help,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.last {
				return cli.Usage(errors.New("export needs the name of a trace"), "toolman trace export --format har FILE; toolman trace list lists traces without a file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Version = setup.Version()
			return f.run(cmd, args)
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "", "har, otlp, mermaid, csv or txtar")
	cmd.Flags().StringVarP(&f.out, "output", "o", "-", "write to this file, readable only by its owner; - is standard output")
	cmd.Flags().BoolVar(&f.last, "last", false, "the newest trace that was given no file, in place of FILE")
	cmd.Flags().BoolVar(&f.Bodies, "bodies", false, "with otlp: also the arguments and results of tools")
	cmd.Flags().IntVar(&f.Limit, "limit", defaultLimit, "with mermaid: the most messages")
	return cmd
}

func (f *flags) run(cmd *cobra.Command, args []string) error {
	write := writer(f.format)
	if write == nil {
		err := fmt.Errorf("unknown format %q", f.format)
		if f.format == "" {
			err = errors.New("a format is missing")
		}
		return cli.Usage(err, "--format is har, otlp, mermaid, csv or txtar")
	}
	if f.Limit < 1 {
		return cli.Usage(fmt.Errorf("--limit %d is too small", f.Limit), "write a number of messages, such as 200")
	}
	name := ""
	if !f.last {
		name, args = args[0], args[1:]
	}
	filter, err := calls.ParseFilter(args)
	if err != nil {
		return err
	}
	path, err := files.Resolve(name, f.last)
	if err != nil {
		return err
	}
	in, err := files.Open(cmd.Context(), path, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer in.Close()
	t, err := Read(in, filter)
	if err != nil {
		return cli.Failed(fmt.Errorf("reading %s: %w", path, err), "check the file")
	}
	if len(t.Runs) == 0 && t.Bad > 0 {
		return files.NotTrace(path)
	}
	if t.Bad > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "toolman: %s no trace record and left out\n", cli.CountIs(t.Bad, "line"))
	}
	text, err := write(t, f.Options)
	if err != nil {
		return err
	}
	return f.write(cmd.OutOrStdout(), path, text)
}

// write writes the export to its file, as a whole or not at all.
func (f *flags) write(stdout io.Writer, in string, text []byte) error {
	if f.out == files.Stdin {
		out := bufio.NewWriter(stdout)
		out.Write(text)
		return out.Flush()
	}
	if files.IsSame(in, f.out) {
		return cli.Usage(fmt.Errorf("%s is the trace itself", f.out), "give another file for -o")
	}
	return files.Replace(f.out, func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	})
}
