// Package mcpwire knows where messages of the Model Context Protocol name
// things, and what a gateway's own messages look like.
//
// It covers the revisions with a handshake, 2024-11-05 to 2025-11-25. A method's
// facts stand in one place: which member of its params names its target
// (Target), which member of a list result holds the items and which member of an
// item is its name (Kind). An Item keeps the bytes its server sent; to show it
// under another name, that one value is replaced.
//
// The package has no state and does no I/O. Bytes it does not understand it
// leaves alone.
package mcpwire
