// Package cli holds what toolman's commands share: errors with an exit code and a hint, checks of
// arguments, and output that is safe to show on a terminal.
package cli
