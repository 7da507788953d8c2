// Package printer prints traces for people: `toolman trace` and the conversation of `toolman
// demo`.
//
// A Printer takes the records of package trace one at a time. It matches the frames of a call on
// both legs by the call's number and prints a line when the call is over, or, with Frames, a line
// for each frame in the notation
//
//	+0.012 client > {"jsonrpc":"2.0","id":"a1","method":"tools/call",…}
//	+0.012 pjpd   < {"jsonrpc":"2.0","id":7,"method":"tools/call",…}
//
// where > is always into toolman and < out of it. Control characters and invisible ones in text of
// peers are printed as \u escapes, which mean the same in JSON.
package printer
