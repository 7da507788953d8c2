package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire/sanitize"
)

// MaxProblems is how many problems one [Error] names.
const MaxProblems = 20

// A Problem is one thing that is wrong with the configuration, or with a file of an MCP client.
type Problem struct {
	File string // as it was given to Load; "" if there is none
	Line int    // from 1; 0 if it is about the whole file
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

// Error is String: a problem of a file that is not toolman's configuration is an error by itself.
func (p *Problem) Error() string { return p.String() }

// An Error holds the problems of a configuration in the order of their lines.
type Error struct {
	Problems []Problem // the first MaxProblems
	Omitted  int       // how many there are besides
}

// Error returns the problems, one on a line.
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

// Problems collects the problems of one file.
type Problems struct {
	File   string // as problems name it
	Format string // "toml" or "json"

	list     []Problem
	omitted  int
	warnings []Problem
	part     *[]Problem // what the part that is read now misses; nil: no part is read
}

// maxKept bounds the problems that are kept to be sorted by line.
const maxKept = 50 * MaxProblems

// Fail adds a problem, unless it is there already.
func (p *Problems) Fail(line int, hint, format string, args ...any) {
	problem := Problem{File: p.File, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
	switch {
	case len(p.list) == maxKept:
		p.omitted++
	case !slices.Contains(p.list, problem):
		p.list = append(p.list, problem)
	}
}

// Part calls read for a part of the file that can fail alone. It returns the problems that Missing
// adds while read runs, which are then no problems of the file.
func (p *Problems) Part(read func()) (missing []Problem) {
	p.part = &missing
	defer func() { p.part = nil }()
	read()
	slices.SortStableFunc(missing, byLine)
	return missing
}

// Missing adds a problem with what the file refers to and what is not there.
func (p *Problems) Missing(line int, hint, format string, args ...any) {
	if p.part == nil {
		p.Fail(line, hint, format, args...)
		return
	}
	problem := Problem{File: p.File, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if len(*p.part) < MaxProblems && !slices.Contains(*p.part, problem) {
		*p.part = append(*p.part, problem)
	}
}

// Warn adds a warning about what is allowed and is probably not meant. Warnings are no problems.
func (p *Problems) Warn(line int, hint, format string, args ...any) {
	warning := Problem{File: p.File, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if len(p.warnings) < MaxProblems && !slices.Contains(p.warnings, warning) {
		p.warnings = append(p.warnings, warning)
	}
}

// Warnings returns the first MaxProblems warnings, in the order of their lines.
func (p *Problems) Warnings() []Problem {
	slices.SortStableFunc(p.warnings, byLine)
	return p.warnings
}

func byLine(a, b Problem) int { return cmp.Compare(a.Line, b.Line) }

// Count returns how many problems there are, with those of the part that is read now.
func (p *Problems) Count() int {
	n := len(p.list)
	if p.part != nil {
		n += len(*p.part)
	}
	return n
}

// Err returns the problems as an [*Error], or nil.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, byLine)
	n := min(len(p.list), MaxProblems)
	return &Error{Problems: p.list[:n], Omitted: len(p.list) - n + p.omitted}
}

// Write returns a key and its value as they are written in the file's format.
func (p *Problems) Write(key, value string) string {
	if p.Format == "json" {
		return fmt.Sprintf("%q: %s", key, value)
	}
	return key + " = " + value
}

// Shown returns text from the file as messages show it.
func Shown(text string) string { return sanitize.Quoted(text, 60) }
