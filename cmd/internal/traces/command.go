package traces

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/check"
	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/export"
	"toolman/cmd/internal/traces/files"
	"toolman/cmd/internal/traces/page"
	"toolman/cmd/internal/traces/play"
	"toolman/cmd/internal/traces/printer"
	"toolman/cmd/internal/traces/remove"
	"toolman/cmd/internal/traces/replay"
)

const help = `trace prints what "toolman --trace FILE" has written. FILE is a path, - for standard input, or a run
that "toolman trace list" prints, or a start of it. --last in its place is the newest of those.

Every call is one line: its number, when it began, client and server, method and name,
status, total time and the time in toolman itself, and the bytes > into and < out of
toolman. Notifications, events, stray output and the servers' stderr come between them.

Filters choose what is printed; all of them must match:

  tool:NAME peer:NAME method:NAME    a part of the name, or a pattern with *
  event:NAME run:NAME                the same for the names of events and runs
  status:WORD                        ok, error (of any kind), pending, rpc_error, tool_error,
                                     cancelled, timeout, gone, late, orphan, local, or a code
  dur:>50ms size:>10KB               also < >= <=
  call:c41 id:7                      one call, with --frames all its frames; a JSON-RPC ID
  kind:WORD leg:WORD dir:WORD        request, response, notification, invalid, event, call;
                                     client, upstream; in, out (of toolman)
  is:WORD                            refused, redacted, truncated, rewritten, late, held, edited, fault
  WORD or text:WORD                  in the messages
  !FILTER                            what does not match

A call matches kind, leg, dir and is if one of its frames does.
With --frames every frame is filtered, and printed, by itself: > is into toolman, < out of it.`

const example = `  toolman trace trace.jsonl                       every call
  toolman trace trace.jsonl -f status:error       errors, as they happen
  toolman trace trace.jsonl tool:gh_* 'dur:>1s'   slow calls of one server
  toolman trace trace.jsonl --frames call:c41     one call on both legs
  toolman trace trace.jsonl --stats               counts and percentiles by tool
  toolman trace --last -f                         the newest trace that was given no file`

// New returns the command trace.
func New() *cobra.Command {
	var o printer.Options
	var last bool
	cmd := &cobra.Command{
		Use:     "trace FILE [filter]...",
		Short:   "Print a trace: calls, frames or statistics",
		Long:    help,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !last {
				return cli.Usage(errors.New("trace needs the name of a trace"), "toolman --trace FILE writes one; toolman trace list lists those that were given no file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if o.Filters = args; !last {
				name, o.Filters = args[0], args[1:]
			}
			var err error
			if o.File, err = files.Resolve(name, last); errors.Is(err, fs.ErrNotExist) && o.Follow && !last {
				o.File = name // it may be made later
			} else if err != nil {
				return err
			}
			o.Stdin = cmd.InOrStdin()
			o.Color = cli.HasColors(cmd.OutOrStdout())
			return printer.Run(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&o.Frames, "frames", false, "print every frame instead of every call")
	cmd.Flags().BoolVarP(&o.Verbose, "verbose", "v", false, "print the messages of calls, the details of frames")
	cmd.Flags().BoolVarP(&o.Follow, "follow", "f", false, "go on as the file grows, and wait for it to be made")
	cmd.Flags().BoolVar(&o.Stats, "stats", false, "print counts, errors, percentiles and bytes by tool")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON: calls, with --frames the trace's own lines, with --stats a list")
	cmd.Flags().BoolVar(&last, "last", false, "the newest trace that was given no file, in place of FILE")
	cmd.AddCommand(newList(), newPrune(), page.NewOpen(), page.NewHTML(), compare.New(), remove.New(), replay.New(), export.New(), play.New(), check.New())
	return cmd
}
