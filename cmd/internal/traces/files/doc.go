// Package files names, finds and reads the files of traces, also while they grow.
//
// Traces that were given no file are in a directory of their own. The name of such a file is
//
//	20261123-215639.482-k3f9q2-filesystem.jsonl
//
// the time of its start (UTC), the run and what was traced. So names sort by time. The writer keeps
// its file locked, which tells whether a trace is still being written.
package files
