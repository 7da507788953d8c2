// Package httpheader has the HTTP headers of MCP's transports, for the client half and the server
// half: their names, the headers that repeat parts of a message of the modern era with the encoding
// of their values, and the media types that a client accepts.
package httpheader
