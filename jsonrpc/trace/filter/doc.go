// Package filter is the language that selects calls, frames and events of a trace: words such as
// tool:fs_* and status:error, of which all must match. `toolman trace --help` lists them.
package filter
