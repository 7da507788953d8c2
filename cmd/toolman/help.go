package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/toolman/docs"
)

const helpHelp = `help prints the help of a command, or a page of the documentation. Without an argument it
lists the commands and the topics.`

// newHelpCommand replaces cobra's help command, which knows no topics.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "Print the help of a command, or a page of the documentation",
		Long:    helpHelp,
		Example: "  toolman help toolset build   the help of a command\n  toolman help policies        a page",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if found, rest, err := root.Find(args); err == nil && len(rest) == 0 {
				found.InitDefaultHelpFlag()
				return found.Help()
			}
			if page, ok := docs.Page(args[0]); ok && len(args) == 1 {
				_, err := io.WriteString(cmd.OutOrStdout(), page)
				return err
			}
			words := strings.Join(args, " ")
			return cli.Usage(fmt.Errorf("unknown command or help topic %q", words), nearTopics(root, args[0]))
		},
	}
}

// nearTopics suggests the commands and topics with a name that is like word.
func nearTopics(root *cobra.Command, word string) string {
	// cobra compares a word with the names of the commands that can run.
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	run := func(*cobra.Command, []string) {}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names.AddCommand(&cobra.Command{Use: c.Name(), Run: run})
		}
	}
	for _, topic := range docs.Topics() {
		names.AddCommand(&cobra.Command{Use: topic.Name, Run: run})
	}
	near := names.SuggestionsFor(word)
	if len(near) == 0 {
		return "toolman help lists the commands and topics"
	}
	for i, name := range near {
		near[i] = "toolman help " + name
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// addTopics adds the list of topics to the help of toolman itself.
func addTopics(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		help(cmd, args)
		if cmd != root {
			return
		}
		out := cmd.OutOrStdout()
		fmt.Fprint(out, "\nHelp topics, for toolman help TOPIC:\n")
		for _, topic := range docs.Topics() {
			fmt.Fprintf(out, "  %-14s %s\n", topic.Name, topic.Summary)
		}
	})
}
