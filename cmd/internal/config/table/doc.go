// Package table reads the keys of one table of a configuration as values of a certain kind, and
// adds a problem for each that is not. A problem says what to write instead.
package table
