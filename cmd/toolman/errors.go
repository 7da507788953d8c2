package main

import (
	"errors"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/pins"
)

// An exitError ends the program with a code and says what to do.
type exitError struct {
	err  error
	code int
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error of the command line or the configuration.
func usage(err error, hint string) error { return &exitError{err, exitUsage, hint} }

func codeOf(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*config.Error](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*pins.Error](err); ok {
		return exitUsage
	}
	return exitFailed
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.hint
	}
	return ""
}
