// Package asyncwriter writes lines to an output that may be slow, full or broken, so that callers
// never wait for it. The trace, the audit log and toolman's own log use it.
//
// Callers put items into a queue of limited size. One goroutine makes lines of them and writes
// these, many at once. Items for which the queue has no room, and lines that the output did not
// take, are counted, and the next entry reports how many they are. The output may take part of a
// line; that line is ended before the next ones.
package asyncwriter
