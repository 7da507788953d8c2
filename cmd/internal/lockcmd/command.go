package lockcmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/engine"
)

const help = `lock starts every server of tools.toml, asks it for all it offers and writes the definition
of every tool, resource, template and prompt into tools.lock, beside tools.toml. While that
file exists, toolman holds back every item that is new or has changed since.

lock accepts everything; --accept takes only the items that are named. --diff shows field by
field what has changed, and --check only whether something has: its exit code is 1 then, for
CI. "toolman help pins" says more.`

const example = `  toolman lock                     write tools.lock
  toolman lock --diff              what has changed since
  toolman lock --accept fs_edit    take one tool as it is now
  toolman lock --check             exit with 1 if something has changed`

// New returns the command lock.
func New(f *engine.Flags) *cobra.Command {
	var do options
	cmd := &cobra.Command{
		Use:     "lock [--diff] [--check] [--accept NAME...]",
		Short:   "Pin what every server offers in tools.lock, or show what has changed",
		Long:    help,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case do.accept && (do.diff || do.check):
				return cli.Usage(errors.New("--accept changes tools.lock, --diff and --check only look at it"), "give one of them")
			case do.accept && len(args) == 0:
				return cli.Usage(errors.New("--accept needs the names of what to accept"), "toolman lock --diff shows them; toolman lock accepts everything")
			case !do.accept && len(args) > 0:
				return cli.Usage(fmt.Errorf("lock takes no arguments, not %q", args[0]), "to accept one item: toolman lock --accept "+args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.DefaultLogLevel(cmd, "warn")
			c, err := f.Load()
			if err != nil {
				return err
			}
			do.names, do.logLevel = args, f.LogLevel
			return run(cmd.Context(), do, c, cmd.OutOrStdout(), f.Stderr)
		},
	}
	cmd.Flags().BoolVar(&do.diff, "diff", false, "show what has changed since tools.lock was written, field by field")
	cmd.Flags().BoolVar(&do.check, "check", false, "exit with 1 if something has changed since")
	cmd.Flags().BoolVar(&do.accept, "accept", false, "take the items named as arguments as they are now, and leave the others")
	cmd.Flags().BoolVar(&do.partial, "partial", false, "go on without servers that are not ready; their pins in tools.lock stay")
	return cmd
}
