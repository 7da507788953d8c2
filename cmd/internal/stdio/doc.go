// Package stdio makes toolman's own standard input and output fit for a
// jsonrpc.Loop, which must not wait on them. They are shared with whoever
// started toolman, so their mode is left as it is: a pipe is opened a second time,
// a socket is used as it is, and anything else is copied through a pipe.
package stdio
