package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
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
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(args) == 0 {
				names = helpNames(cmd.Root())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			found, rest, err := root.Find(args)
			isCommand := err == nil && len(rest) == 0
			if isCommand {
				found.InitDefaultHelpFlag()
				if err := found.Help(); err != nil || len(args) != 1 {
					return err
				}
			}
			if text, ok := page(strings.Join(args, " ")); ok {
				if isCommand { // the page has the name of a command
					text = "\n" + text
				}
				_, err = io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			if isCommand {
				return nil
			}
			return cli.Usage(fmt.Errorf("unknown command or help topic %q", strings.Join(args, " ")),
				cli.DidYouMean(args[0], helpNames(root), "toolman help ", "toolman help lists the commands and topics"))
		},
	}
}

// helpNames returns what help knows: the commands and the topics.
func helpNames(root *cobra.Command) []string {
	names := cli.Subcommands(root)
	for _, t := range topics() {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return slices.Compact(names) // a page may have the name of a command
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
		for _, t := range topics() {
			fmt.Fprintf(out, "  %-14s %s\n", t.name, t.summary)
		}
	})
}

// pages holds the pages of the documentation. A page is a Markdown file. Its name without ".md" is
// the topic. Its first line is a heading of the form "# Title: summary". The pages begin with tasks
// and end with the reference. Package fixtures/readme runs their commands and checks their links.
//
//go:embed docs/*.md
var pages embed.FS

// A topic is one page.
type topic struct{ name, summary string }

// topics returns all topics, sorted by name.
func topics() (all []topic) {
	files, err := pages.ReadDir("docs")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".md")
		text, _ := page(name)
		heading, _, _ := strings.Cut(text, "\n")
		_, summary, _ := strings.Cut(heading, ": ")
		all = append(all, topic{name, summary})
	}
	return all
}

// page returns the text of a topic's page, and whether there is such a topic.
func page(topic string) (text string, ok bool) {
	page, err := pages.ReadFile("docs/" + topic + ".md")
	return string(page), err == nil
}
