// Package sse reads and writes server-sent events (HTML Living Standard, 9.2), in which both halves
// of MCP's HTTP transports send messages.
package sse
