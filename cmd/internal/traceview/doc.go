// Package traceview prints traces for people: `toolman trace` and the conversation of `toolman demo`.
//
// A Printer takes the records of package trace one at a time. It pairs the frames of a call on both legs by the call's
// number and prints one line when the call is over, or, with Frames, one line a frame in the notation
//
//	+0.012 client > {"jsonrpc":"2.0","id":"a1","method":"tools/call",…}
//	+0.012 pjpd   < {"jsonrpc":"2.0","id":7,"method":"tools/call",…}
//
// where > is always into toolman and < out of it. Nothing that came from a peer is printed with control characters or
// invisible ones in it: they appear as \u escapes, which inside JSON mean the same.
package traceview
