package compare

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/calls"
	"toolman/cmd/internal/traces/recording"
)

const help = `diff compares two sessions: which calls were made, with which arguments, in which order, and
what came back. Of a gateway's trace it compares what the client saw.

Calls with the same method, name and arguments belong together, also at another place. The
others are compared with calls of the same method and name. + is only in B, - only in A.

Exit status 0: the sessions are equal; 1: they differ. Times and the number of notifications
do not count. Some differences are ignored, unless --strict is given:

%s
--ignore PATH ignores a value and all in it. * stands for a name, [*] for an index, ** for
anything: --ignore 'result.content[*].text', --ignore '**.etag', --ignore 'result.tools[*].description'.

The filters of toolman trace select the calls that are compared.`

const example = `  toolman trace diff before.jsonl after.jsonl
  toolman trace diff before.jsonl after.jsonl --ignore 'params.arguments.id' tool:fs_*
  toolman trace diff trace.jsonl trace.jsonl --run 1,2     two sessions of one file`

// New returns the command diff.
func New() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "diff A B [filter]...",
		Short:   "Compare two sessions",
		Long:    fmt.Sprintf(help, BuiltIn()),
		Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			least := 2
			if f.last {
				least = 1
			}
			return cli.Args(least, -1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := f.compare(cmd, args)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if f.json {
				_, err = out.Write(cli.IndentedJSON(result))
			} else {
				p := printer{color: cli.HasColors(out), threshold: f.threshold}
				_, err = out.Write(p.result(result))
			}
			if err == nil && !result.Equal {
				err = cli.Failed(fmt.Errorf("the sessions differ: %s", summary(result)), "toolman trace diff --help says what can be ignored")
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&f.ignore, "ignore", nil, "ignore differences at this path; may be repeated")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "do not ignore anything but what --ignore names")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.last, "last", false, "the newest trace that was given no file, in place of B")
	cmd.Flags().StringVar(&f.run, "run", "", "`number` or name of the session in the files, or of both with a comma between them (default the last)")
	cmd.Flags().DurationVar(&f.threshold, "threshold", DefaultThreshold, "report calls that take so much longer or shorter, and twice or half as long")
	return cmd
}

type flags struct {
	ignore       []string
	strict, json bool
	last         bool
	run          string
	threshold    time.Duration
}

func (f *flags) compare(cmd *cobra.Command, args []string) (*Result, error) {
	rules, err := NewRules(f.strict, f.ignore)
	if err != nil {
		return nil, err
	}
	files := 2
	if f.last {
		files = 1
	}
	filter, err := calls.ParseFilter(args[files:])
	if err != nil {
		return nil, err
	}
	first, second := recording.Source{File: args[0], Stdin: cmd.InOrStdin()}, recording.Source{Last: f.last}
	if !f.last {
		second.File, second.Stdin = args[1], cmd.InOrStdin()
	}
	var two bool
	if first.Run, second.Run, two = strings.Cut(f.run, ","); !two {
		second.Run = first.Run
	}
	a, err := recording.Read(cmd.Context(), first)
	if err != nil {
		return nil, err
	}
	b, err := recording.Read(cmd.Context(), second)
	if err != nil {
		return nil, err
	}
	return Sessions(a, b, Options{Rules: rules, Filter: filter, Threshold: f.threshold}), nil
}
