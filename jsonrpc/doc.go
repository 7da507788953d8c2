// Package jsonrpc reads, inspects, edits and writes JSON-RPC 2.0 messages without decoding them.
//
// A frame is one message as bytes. Scan checks it strictly, in one walk, and records in a Message
// where the ID, the method, the params and so on are. To pass a message on, list the few bytes that
// must change as Edits: AppendSplice copies all others. A Scanner is Scan for the frames of one
// peer.
//
// Pending is the table of requests that a peer has not answered yet. Control makes toolman's own
// requests, with sourcegraph/jsonrpc2 for the correlation. Package peer reads and writes messages.
//
// Rules for callers:
//
//   - A Message and its bytes are valid until the handler that got it returns.
//   - A key counts only in its exact spelling and only once. A message that another parser could
//     read in another way is refused, so that the server sees the values that toolman decides on.
//   - The package knows no method of MCP, and does not log.
package jsonrpc
