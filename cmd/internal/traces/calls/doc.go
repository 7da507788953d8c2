// Package calls assembles the calls of a trace from its frames, and counts them by tool.
package calls
