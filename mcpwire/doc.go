// Package mcpwire knows the messages of the Model Context Protocol: where they name things, what a
// gateway's own messages look like, and what has to change in a message between peers of different
// revisions.
//
// The facts about a method stand in one place: the member of its params that names its target
// (Target), the member of a list result that holds the items, and the member of an item that is its
// name (Kind). An Item keeps the bytes that its server sent; to show it under another name, one
// value is replaced. Package itemdef says what defines an item.
//
// There are two eras. Legacy, 2024-11-05 to 2025-11-25, has a handshake (Hello, InitializeResult)
// and requests from server to client. Modern, 2026-07-28, has neither: each request carries an
// Envelope, each result has a type (Result), a server that needs input answers that and gets the
// request again, and changes are announced on a subscription (Filter). In a gateway a message is
// translated like this; package inputreq does so with what servers ask of clients:
//
//	legacy client, modern server   Claim.AddTo        the request
//	                               Result.ToLegacy    the result
//	                               Item.ToLegacy      items of lists
//	                               FromSubscription   notifications
//	modern client, legacy server   StripEnvelope      the request
//	                               Result.ToModern    the result
//	                               Item.ToModern      items of lists
//	                               ToSubscription     notifications
//	either                         JudgeError         errors
//
// All of these append edits to a caller's slice, to be spliced into the frame that was read. They
// may share a splice with edits of the ID, the target and the progress token.
//
// The package has no state and does no I/O. Bytes that it does not understand stay as they are.
package mcpwire
