package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/setup"
	"toolman/mcpwire/sanitize"
)

const resolveHelp = `resolve prints the configuration that applies to an agent, a service and a task: with what
the task rules of tools.toml add, and without the rules and the policies of other agents. It
starts nothing and replaces no ${…}. Its output can be loaded as a configuration; paths in it
are relative to the folder of the original file.`

func newResolveCommand(f *setup.Flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "resolve",
		Short:   "Print the configuration for an agent, a service and a task",
		Long:    resolveHelp,
		Example: `  toolman resolve --agent developer --service users-api --task "add tests" > task.toml`,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := f.Find()
			if err != nil {
				return err
			}
			format, escaped := "toml", escapedTOML
			if asJSON {
				format, escaped = "json", sanitize.JSON
			}
			text, err := config.Resolve(at.Path, f.Options(), format)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), escaped(string(text)))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.AddTask(cmd)
	return cmd
}

// escapedTOML returns TOML with the same meaning as text, which is TOML without literal strings and
// comments.
func escapedTOML(text string) string {
	return sanitize.Escape(text, func(r rune) string {
		if r == '\n' || r == '\t' {
			return string(r)
		}
		return fmt.Sprintf(`\U%08x`, r)
	})
}

const schemaHelp = `schema prints the JSON Schema of tools.toml. Editors that validate TOML with JSON Schema
(Taplo, Even Better TOML, Tombi) complete and check a file whose first line names it:

  #:schema tools.schema.json

It covers keys, types and ranges; toolman check covers everything else.`

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of tools.toml, for editors",
		Long:  schemaHelp,
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}
