package traces

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
)

const listHelp = `list prints the traces that were written without the name of a file: by "toolman tap", and by
"toolman --trace auto". The newest is the last. Their run, or a start of it, can be given in place
of FILE to every command that reads traces; --last is the newest.

Calls are not counted in files over 8 MB. A trace is "live" while a program still writes it.`

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the traces that were given no file",
		Long:  listHelp,
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := files.List()
			if err != nil {
				return cli.Failed(err, "let this user read that directory")
			}
			for i := range all {
				all[i].Examine()
			}
			if asJSON {
				for i := range all {
					fmt.Fprintf(cmd.OutOrStdout(), "%s\n", cli.JSON(&all[i]))
				}
				return nil
			}
			if len(all) == 0 {
				dir, _ := files.Dir()
				fmt.Fprintf(cmd.ErrOrStderr(), "toolman: no traces in %s; toolman tap and toolman --trace auto write there\n", dir)
				return nil
			}
			return printList(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each trace")
	return cmd
}

func printList(out io.Writer, all []files.Trace) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "run\twhen\twhat\tsize\tcalls\t")
	for _, t := range all {
		calls, state := "-", ""
		if t.Calls != nil {
			calls = strconv.Itoa(*t.Calls)
		}
		if t.Live {
			state = "live"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Run, t.Started.Local().Format(time.DateTime), t.What, size(t.Size), calls, state)
	}
	return w.Flush()
}

const pruneHelp = `prune removes traces that were written without the name of a file, and says which. With --keep and
--older it removes what is both: not one of the newest, and not written for that long. It never
removes a trace that a program still writes.`

func newPrune() *cobra.Command {
	var limit files.Limit
	var older string
	var dry bool
	cmd := &cobra.Command{
		Use:     "prune",
		Short:   "Remove old traces that were given no file",
		Long:    pruneHelp,
		Example: "  toolman trace prune --keep 20\n  toolman trace prune --older 7d --dry-run",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			switch {
			case !cmd.Flags().Changed("keep") && older == "":
				return cli.Usage(errors.New("prune does not know what to remove"), "give --keep N, --older DURATION, or both")
			case limit.Keep < 0:
				return cli.Usage(fmt.Errorf("--keep %d is negative", limit.Keep), "--keep 0 keeps none")
			case older != "":
				if limit.Older, err = age(older); err != nil {
					return err
				}
			}
			removed, live, err := files.Prune(limit, dry)
			report(cmd.OutOrStdout(), removed, live, dry)
			if err != nil {
				return cli.Failed(err, "let this user write to that directory")
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&limit.Keep, "keep", 0, "keep the newest `N` traces")
	cmd.Flags().StringVar(&older, "older", "", "keep what was written within this `duration`, such as 12h or 7d")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return cmd
}

// age reads a duration, also in days.
func age(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && 0 <= n && n < 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, cli.Usage(fmt.Errorf("--older %q is no duration", s), "write it like 30m, 12h or 7d")
	}
	return d, nil
}

func report(out io.Writer, removed, live []files.Trace, dry bool) {
	did, bytes := "removed", int64(0)
	if dry {
		did = "would remove"
	}
	for _, t := range removed {
		fmt.Fprintf(out, "%s %s (%s)\n", did, t.Name(), size(t.Size))
		bytes += t.Size
	}
	for _, t := range live {
		fmt.Fprintf(out, "kept %s: it is still being written\n", t.Name())
	}
	fmt.Fprintf(out, "%s %s, %s\n", did, cli.Count(len(removed), "trace"), size(bytes))
}

// size returns a number of bytes in words.
func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}
