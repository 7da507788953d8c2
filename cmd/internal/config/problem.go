package config

import (
	"fmt"
	"strings"

	"toolman/mcpwire/sanitize"
)

// maxProblems bounds the problems that one [Error] names.
const maxProblems = 20

// A Problem is one thing that is wrong with the configuration.
type Problem struct {
	File string // as it was given to Load; "" when there is none
	Line int    // from 1; 0 when it is about the file as a whole
	Msg  string // what is wrong
	Hint string // what to write or do instead; may be ""
}

// String is "file:line: what is wrong; what to write instead".
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:", p.Line)
		}
		b.WriteString(" ")
	}
	b.WriteString(p.Msg)
	if p.Hint != "" {
		b.WriteString("; " + p.Hint)
	}
	return b.String()
}

// An Error holds the problems of a configuration in the order of their lines, the first twenty of them.
type Error struct {
	Problems []Problem
	Omitted  int // problems beyond those
}

// Error gives one line a problem.
func (e *Error) Error() string {
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	if e.Omitted > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.Omitted))
	}
	return strings.Join(lines, "\n")
}

// ExitCode is toolman's exit code for the error.
func (e *Error) ExitCode() int { return 2 }

// shown returns text from the file as messages show it.
func shown(text string) string { return sanitize.Quoted(text, 60) }
