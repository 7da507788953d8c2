// Package httpbody reads and writes the bodies of MCP's HTTP transports, for the client half and
// the server half: single messages (Pool) and streams of server-sent events (HTML Living Standard,
// 9.2).
package httpbody
