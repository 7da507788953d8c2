// Package jsonrpc reads, inspects, edits and writes JSON-RPC 2.0 messages
// without decoding them.
//
// A frame is one message as bytes: one line of a stream, without its newline.
// Scan walks it once, strictly, and notes in a Message which bytes are the id,
// the method, the params and so on. To pass a message on, Edits name the few
// bytes that must differ on the other side, and AppendSplice copies the rest. A
// Scanner is Scan for the frames of one peer: of one that is built like an earlier
// one it looks at no more than what may differ.
//
// A Peer is the far end of a pair of streams. It cuts what it reads into frames
// and hands each to its Handler; the handler sends through a Batch, and what
// whole frames of one read have caused goes out in one write to each receiver.
// Nobody waits for a receiver that does not read: its queue fills and refuses
// (ErrQueueFull), or, where nothing may be lost (PeerOptions.Pressure), its
// writers stop reading for a while. On Linux the peers of a Loop share one
// goroutine; elsewhere each has two goroutines.
//
// Calls is the table of requests that a peer still owes an answer. Control makes
// toolman's own requests, with sourcegraph/jsonrpc2 for the correlation.
//
// Rules that callers must keep:
//
//   - A Message and its bytes are valid until the handler returns.
//   - A key counts only in its exact spelling and only once. Anything a laxer
//     parser could read differently is refused, so that what toolman decides on is
//     what the server sees.
//   - Nothing here blocks on a peer, and handlers must not either. One that panics
//     ends the process: what it left half done would be worse.
//   - The package knows no method of MCP, and does not log.
package jsonrpc
