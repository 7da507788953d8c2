package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// NoCommand rejects arguments of a command that only has subcommands.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + near[0] + "?"
	}
	return Usage(errors.New("unknown command "+args[0]), hint)
}

// NoArgs rejects arguments of a command that takes none.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(fmt.Errorf("%s takes no arguments, not %q", cmd.CommandPath(), args[0]), cmd.CommandPath()+" --help lists its flags")
}

// Args rejects fewer than least and more than most arguments; a negative most is no limit.
func Args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return Usage(fmt.Errorf("%s cannot be called with %s", cmd.CommandPath(), Count(len(args), "argument")),
			"write "+strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
}

// Count returns a number of things in words: "1 tool", "2 tools".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// CountIs returns Count with its verb: "1 tool is", "2 tools are".
func CountIs(n int, thing string) string {
	if n == 1 {
		return Count(n, thing) + " is"
	}
	return Count(n, thing) + " are"
}
