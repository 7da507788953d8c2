package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/pins"
)

const lockHelp = `lock starts every server of tools.toml, asks it for all it offers and writes what every
tool, resource, template and prompt is into tools.lock, beside tools.toml. Commit that
file. While it is there, toolman holds back what is not as it says: an item that is new,
or whose name, title, description, schemas or annotations have changed since somebody
looked at them.

lock accepts everything; --accept takes only the items that are named, as they are now.
toolman reads the file when it starts: restart one that is running on stdio (toolman
serve sees it by itself). unpinned = [globs] in
tools.toml names items that need no pin, such as resources that a server adds as it runs.

--diff shows field by field what has changed since, and --check only whether something
has: its exit code is 1 then, for CI. The servers are told of a client that can do
everything, since some offer it more.`

const lockExample = `  toolman lock                     write tools.lock
  toolman lock --diff              what has changed since
  toolman lock --accept fs_edit    take one tool as it is now
  toolman lock --check             exit with 1 if something has changed`

// lockFlags are what lock was asked to do.
type lockFlags struct{ diff, check, accept, partial bool }

func newLockCommand(a *app) *cobra.Command {
	var do lockFlags
	cmd := &cobra.Command{
		Use:     "lock [--diff] [--check] [--accept NAME...]",
		Short:   "Pin what every server offers in tools.lock, or show what has changed",
		Long:    lockHelp,
		Example: lockExample,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case do.accept && (do.diff || do.check):
				return usage(errors.New("--accept changes tools.lock, --diff and --check only look at it"), "give one of them")
			case do.accept && len(args) == 0:
				return usage(errors.New("--accept needs the names of what to accept"), "toolman lock --diff shows them; toolman lock accepts everything")
			case !do.accept && len(args) > 0:
				return usage(fmt.Errorf("lock takes no arguments, not %q", args[0]), "to accept one item: toolman lock --accept "+args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("log-level") {
				a.logLevel = "warn"
			}
			return a.lock(cmd.Context(), cmd.OutOrStdout(), do, args)
		},
	}
	cmd.Flags().BoolVar(&do.diff, "diff", false, "show what has changed since tools.lock was written, field by field")
	cmd.Flags().BoolVar(&do.check, "check", false, "exit with 1 if something has changed since")
	cmd.Flags().BoolVar(&do.accept, "accept", false, "take the items named as arguments as they are now, and leave the others")
	cmd.Flags().BoolVar(&do.partial, "partial", false, "go on without servers that are not ready; what tools.lock has of them stays")
	return cmd
}

// lock does what the flags say.
func (a *app) lock(ctx context.Context, out io.Writer, do lockFlags, names []string) error {
	c, _, err := a.load()
	if err != nil {
		return err
	}
	path := pins.Path(c.Path)
	old, err := readableLock(path, do)
	if err != nil {
		return err
	}
	found, err := a.offered(ctx, c, old)
	if err != nil {
		return err
	}
	for _, note := range found.odd {
		fmt.Fprintf(a.stderr, "toolman: warning: %s\n", note)
	}
	if len(found.missing) > 0 && !do.partial && !do.accept {
		return &exitError{fmt.Errorf("it is not known what every server offers:\n  %s", strings.Join(found.problems, "\n  ")), exitFailed,
			"toolman check says more; --partial goes on without them"}
	}
	switch {
	case do.accept:
		return acceptPins(ctx, out, path, found, names)
	case do.diff || do.check:
		return comparePins(out, path, found, do)
	}
	return writePins(ctx, out, path, found)
}

// readableLock finds out before servers are started whether the lock file can be used.
func readableLock(path string, do lockFlags) (pins.Set, error) {
	set, err := pins.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if do.accept || do.diff || do.check {
			return nil, &exitError{fmt.Errorf("there is no %s", path), exitFailed, "toolman lock writes it"}
		}
		return nil, nil
	}
	return set, err
}
