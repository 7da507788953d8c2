package cli

import "errors"

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

// Code returns the exit code for an error. An error without a Code method is a failure.
func Code(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
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
