package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/lockfile"
)

const lockHelp = `lock starts every server of tools.toml, asks it for all it offers and writes the definition
of every tool, resource, template and prompt into tools.lock, beside tools.toml. Commit that
file. While it exists, toolman holds back every item that differs from it: an item that is
new, or whose name, title, description, schemas or annotations have changed since they were
accepted.

lock accepts everything; --accept takes only the items that are named, as they are now.
toolman reads the file when it starts: restart one that is running on stdio (toolman serve
sees it by itself). unpinned = [globs] in tools.toml names items that need no pin, such as
resources that a server adds as it runs.

--diff shows field by field what has changed since, and --check only whether something has:
its exit code is 1 then, for CI. The servers see a client with every capability, since some
offer it more.`

const lockExample = `  toolman lock                     write tools.lock
  toolman lock --diff              what has changed since
  toolman lock --accept fs_edit    take one tool as it is now
  toolman lock --check             exit with 1 if something has changed`

func newLockCommand(f *flags) *cobra.Command {
	var do lockfile.Options
	cmd := &cobra.Command{
		Use:     "lock [--diff] [--check] [--accept NAME...]",
		Short:   "Pin what every server offers in tools.lock, or show what has changed",
		Long:    lockHelp,
		Example: lockExample,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case do.Accept && (do.Diff || do.Check):
				return cli.Usage(errors.New("--accept changes tools.lock, --diff and --check only look at it"), "give one of them")
			case do.Accept && len(args) == 0:
				return cli.Usage(errors.New("--accept needs the names of what to accept"), "toolman lock --diff shows them; toolman lock accepts everything")
			case !do.Accept && len(args) > 0:
				return cli.Usage(fmt.Errorf("lock takes no arguments, not %q", args[0]), "to accept one item: toolman lock --accept "+args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.lower(cmd, "warn")
			c, _, err := f.config.Load()
			if err != nil {
				return err
			}
			do.Names, do.LogLevel = args, f.engine.LogLevel
			return lockfile.Run(cmd.Context(), do, c, cmd.OutOrStdout(), f.stderr)
		},
	}
	cmd.Flags().BoolVar(&do.Diff, "diff", false, "show what has changed since tools.lock was written, field by field")
	cmd.Flags().BoolVar(&do.Check, "check", false, "exit with 1 if something has changed since")
	cmd.Flags().BoolVar(&do.Accept, "accept", false, "take the items named as arguments as they are now, and leave the others")
	cmd.Flags().BoolVar(&do.Partial, "partial", false, "go on without servers that are not ready; their pins in tools.lock stay")
	return cmd
}
