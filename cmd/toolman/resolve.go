package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/config"
	"toolman/mcpwire/sanitize"
)

const resolveHelp = `resolve prints the configuration that the task rules of tools.toml come to for an agent, a
service and a task: with what the rules add, and without the rules and the policies of
other agents. It starts nothing and replaces no ${…}. What it prints can be loaded again;
paths in it are against the folder of its file, as they were.`

func newResolveCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "resolve",
		Short:   "Print the configuration for an agent, a service and a task",
		Long:    resolveHelp,
		Example: `  toolman resolve --agent developer --service users-api --task "add tests" > task.toml`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := a.find()
			if err != nil {
				return err
			}
			format, escaped := "toml", escapedTOML
			if asJSON {
				format, escaped = "json", sanitize.JSON
			}
			text, err := config.Resolve(at.Path, a.configOptions(), format)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), escaped(string(text)))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.addTaskFlags(cmd)
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

// addTaskFlags gives a command the flags that say for whom and what for.
func (a *app) addTaskFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.agent, "agent", "", "`name` of the agent in agent_policies (default: none)")
	cmd.Flags().StringVar(&a.service, "service", "", "`name` of what the agent works on, for task_rules")
	cmd.Flags().StringVar(&a.task, "task", "", "`text` that says what it is to do, for task_rules")
}
