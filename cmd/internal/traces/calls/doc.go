// Package calls assembles the calls of a trace from its frames, selects calls and frames with the
// filters that `toolman trace --help` lists, and counts calls by tool.
package calls
