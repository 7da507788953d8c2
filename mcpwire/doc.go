// Package mcpwire reads, builds and translates messages of the Model Context Protocol. It knows
// where they name things, what a gateway's own messages look like, and what has to change in a
// message between peers of different revisions.
//
// Each fact about a method is in one place: the member of its params that names its target
// (Target), the member of a list result that holds the items, and the member of an item that is its
// name (Kind). An Item keeps the bytes that its server sent. To show it under another name, one
// value is replaced. Its Definition is what identifies it in pins and saved toolsets.
//
// There are two eras. Legacy, 2024-11-05 to 2025-11-25, has a handshake (Hello, InitializeResult)
// and requests from server to client. Modern, 2026-07-28, has neither: each request carries an
// Envelope, and each result has a type (Result). A server that needs input responds with input
// requests and then gets the original request again. It announces changes on a subscription
// (Filter). A gateway translates messages as follows. Package inputreq translates requests for
// input.
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
// The package has no state and does no I/O. It does not change bytes that it does not understand.
package mcpwire
