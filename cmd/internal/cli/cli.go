package cli

import (
	"errors"
	"fmt"
	"strings"

	"toolman/mcpwire/sanitize"
	"toolman/router/suggest"

	"github.com/spf13/cobra"
)

// NoCommand rejects arguments of a command that only has subcommands.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	path := cmd.CommandPath()
	return Usage(errors.New("unknown command "+args[0]), DidYouMean(args[0], Subcommands(cmd), path+" ", path+" --help lists the commands"))
}

// Subcommands returns the names of a command's subcommands, without hidden ones.
func Subcommands(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// DidYouMean returns the known name that is like name, with what belongs before it, as a hint, or
// else the other hint.
func DidYouMean(name string, known []string, before, otherwise string) string {
	if near := suggest.Nearest(name, known); near != "" {
		return "did you mean " + before + sanitize.Line(near) + "?"
	}
	return otherwise
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

// The exit codes of toolman.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2 // a wrong flag or a wrong configuration
)

// An Error ends the program with a code and says what to do next.
type Error struct {
	Err  error
	Code int
	Hint string
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// Failed returns an error with exit code 1.
func Failed(err error, hint string) error { return &Error{err, ExitFailed, hint} }

// Usage returns an error of the command line or the configuration, with exit code 2.
func Usage(err error, hint string) error { return &Error{err, ExitUsage, hint} }

// ExitCode returns the code.
func (e *Error) ExitCode() int { return e.Code }

// Code returns the exit code for an error. An error without an ExitCode method is a failure.
func Code(err error) int {
	if coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		return coded.ExitCode()
	}
	return ExitFailed
}

// Hint returns what to do about an error, or "".
func Hint(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}
