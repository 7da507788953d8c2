package main

import (
	"github.com/spf13/cobra"

	"toolman/cmd/internal/config"
)

const schemaHelp = `schema prints the JSON Schema of tools.toml. Editors that know TOML by its schema
(Taplo, Even Better TOML, Tombi) complete and check a file whose first line names it:

  #:schema tools.schema.json

It tells keys, kinds and ranges; toolman check tells all the rest.`

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of tools.toml, for editors",
		Long:  schemaHelp,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}
