package main

import (
	"github.com/spf13/cobra"

	"toolman/cmd/internal/demo/demoserver"
)

// newDemoServerCommand is how the demo starts its servers: this program again.
func newDemoServerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "__demo-server NAME",
		Hidden:    true,
		ValidArgs: demoserver.Names(),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return demoserver.Run(cmd.Context(), args[0], a.stdin, a.stdout)
		},
	}
}
