// Package cli holds what toolman's commands share: errors with an exit code and a hint, checks of
// arguments, and output: colors and lines that change on a terminal, and JSON.
package cli
