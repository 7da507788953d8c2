// Package dialog exchanges JSON-RPC messages with one far end over a pair of streams, for a program
// that handles one message after the other.
package dialog
