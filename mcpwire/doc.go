// Package mcpwire knows where messages of the Model Context Protocol name
// things, what a gateway's own messages look like, and what has to change in a
// message between peers of different revisions.
//
// A method's facts stand in one place: which member of its params names its target
// (Target), which member of a list result holds the items and which member of an
// item is its name (Kind). An Item keeps the bytes its server sent; to show it
// under another name, that one value is replaced. What it is, apart from how its server
// spells it, is its Definition; the hash of that is its RefID.
//
// There are two eras. Legacy, 2024-11-05 to 2025-11-25, has a handshake (Hello,
// InitializeResult) and requests from server to client. Modern, 2026-07-28, has
// neither: each request carries an Envelope, each result says what it is (Result), a
// server that needs input answers so and is asked again (Input, Ask, Retry), and what
// changes is told on a subscription (Filter). In a gateway one message takes these
// ways:
//
//	legacy client, modern server   Claim.AddTo        the request
//	                               Result.ToLegacy    the result, or Result.Input and AddRetry
//	                               Item.ToLegacy      what is listed
//	                               FromSubscription   notifications
//	modern client, legacy server   StripEnvelope      the request
//	                               Result.ToModern    the result
//	                               AskOf              what the server asks, until RetryOf has it answered
//	                               Item.ToModern      what is listed
//	                               ToSubscription     notifications
//	either                         JudgeError         errors
//
// All of these append edits to a caller's slice, to be spliced into the frame that was
// read. They may share a splice with edits of the id, the target and the progress
// token.
//
// The package has no state and does no I/O. Bytes it does not understand it
// leaves alone.
package mcpwire
