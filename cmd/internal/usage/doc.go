// Package usage is the command toolman usage: it counts the calls in the audit log, by tool, agent
// and toolset. Names and durations that it keeps are bounded.
package usage
