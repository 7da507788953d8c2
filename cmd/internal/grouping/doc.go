// Package grouping finds tools that are used together, from the lines of an audit log.
//
// A session is what an audit log calls one. A client without sessions has one for each hour. Two
// tools belong together if at least two sessions use both, and if these are at least half of the
// sessions that use either. Groups are joined as long as this half holds on average between their
// tools. The result depends only on the lines, and not on their order. Memory and time are bounded:
// what exceeds the limits is not counted, and [Usage.Ignored] says so.
package grouping
