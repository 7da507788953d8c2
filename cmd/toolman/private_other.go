//go:build !linux

package main

// keepPrivate does nothing: these systems have no such setting, or it keeps away debuggers alone.
func keepPrivate() {}
