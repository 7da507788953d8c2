// Package stdio serves one client on toolman's own standard input and output: with a router, or
// with an MCP server elsewhere that it reaches over HTTP.
//
// A peer.Loop must not block on these files. They are shared with the process that started
// toolman, so their mode stays as it is: a pipe is opened a second time, a socket is used as it is,
// and anything else is copied through a pipe.
package stdio
