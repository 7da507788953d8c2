// Package source reads a configuration file, TOML or JSON, into a tree in which every value has its
// line, and collects the problems of the file.
package source
