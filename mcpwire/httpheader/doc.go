// Package httpheader knows the HTTP headers of MCP's transports, for both halves: their names,
// which of them mirror a message of the modern era and how values are encoded there, and which
// media types a client accepts.
package httpheader
