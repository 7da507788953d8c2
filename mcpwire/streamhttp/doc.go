// Package streamhttp is the client half of MCP over HTTP.
//
// A Conn has the methods of a peer.Peer: Queue and Flush send frames, and a peer.Handler gets the
// received messages, one at a time. The Conn sends each message with its own POST. The response to
// a request is the body of the HTTP response, or comes on a stream of events, together with the
// messages that belong to the request. Each request in flight has a goroutine.
//
//	Queue ─▶ outbox ─▶ request ─▶ attempt ─▶ endpoint ─POST─▶ server
//	Handler ◀─ dispatcher ◀─ answer ◀─ events ◀─ EventReader ◀── server
//
// Each message shows its era. HTTP headers repeat parts of a modern message, and the end of its
// POST cancels a modern request. Legacy messages belong to a session. A GET stream carries the
// messages that belong to no request. If the server has lost the session, the Conn begins another
// one. If the server knows only the transport of 2024-11-05, the Conn uses that.
//
// # Failures
//
// Every request gets a response, unless it is cancelled or the Conn is closed. If the server does
// not respond, the Conn makes an error response. It says what happened, what to do, and whether the
// server may have executed the request. The Conn only repeats requests that are idempotent, or that
// the server cannot have executed.
//
// # Rules
//
// Errors and log messages contain no secrets: no user or query of the URL, no headers, and nothing
// that a Credential sets. Messages keep their order where the protocol needs it. The handshake and
// the session's stream come first. A request that changes the session is settled before later
// messages are sent. Notifications stay in order. A cancellation only waits for its request. There
// is a limit on everything that a server sends.
package streamhttp
