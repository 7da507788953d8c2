package servercmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/setup"
)

func newRemove(f *setup.Flags) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a server from tools.toml",
		Long: `remove takes a server out of tools.toml, with the comment directly above it. NAME is its
namespace, or its name if it has one. Everything else in the file stays as it is.`,
		Example: "  toolman remove fs --dry-run",
		Args:    cli.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, exists, err := open(f)
			if err != nil {
				return err
			}
			if !exists {
				return cli.Failed(errNone, "toolman add NAME -- COMMAND... makes one")
			}
			text, err := file.Remove(args[0])
			if err != nil {
				return err
			}
			if err := save(cmd.OutOrStdout(), file, exists, text, dryRun); err != nil || dryRun {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "toolman: server %s is no longer in %s\n", args[0], file.Path)
			return nil
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would change, and change nothing")
	return cmd
}
