// Package record writes what passes through a tap to a trace, while the tap passes it on.
//
// The tap gives each piece of a stream to a Stream, which queues a copy. One goroutine takes the
// copies, finds the messages in them and matches answers with their requests. So nothing that it
// finds, or cannot read, delays or changes what the tap passes on. The queue has a limit: what does
// not fit is missing in the trace, which says so.
//
// A trace of a tap has one leg: frames are between the client and the tap. Requests of the client
// are "in", and those of the server "out".
package record
