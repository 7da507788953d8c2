// Package streamhttp is the client half of MCP over HTTP.
//
// A Conn has the methods of a peer.Peer: frames go in through Queue and Flush, and a peer.Handler
// gets what comes, one message at a time. Each message is a POST of its own. The answer to a
// request is the body of the response, or comes on a stream of events together with the messages
// that belong to the request. Each request in flight has a goroutine.
//
//	Queue ─▶ outbox ─▶ request ─▶ attempt ─▶ endpoint ─POST─▶ server
//	Handler ◀─ dispatcher ◀─ answer ◀─ events ◀─ httpbody.EventReader ◀── server
//
// Each message says of which era it is. The headers of modern messages mirror them, and the end of
// its POST cancels a modern request. Legacy messages belong to a session; a GET stream brings what
// belongs to no request. A server that has forgotten the session gets another one, and a server
// that knows only the transport of 2024-11-05 is served with that.
//
// # Failures
//
// Every request is answered, unless it is cancelled or the Conn is closed. If the server gives no
// answer, the Conn gives an error that says what happened and what to do, and whether the request
// may have been carried out. Only requests that are idempotent, or cannot have been carried out,
// are sent again.
//
// # Rules
//
// Errors and log messages hold no secrets: nothing of the URL's user and query, of headers, or of
// what a Credential sets. Messages keep their order where the protocol needs it: the handshake and
// the session's stream come before everything else, a request that changes the session comes before
// those that follow, notifications follow one another, and a cancellation follows its request and
// nothing else. Everything that a server sends is bounded.
package streamhttp
