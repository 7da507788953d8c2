// Package streamhttp speaks MCP over HTTP: the client's half of the streamable HTTP
// transport, and the stream of events that both halves share.
//
// A Conn looks like a jsonrpc.Peer: frames go in through Queue and Flush, what comes is handed to a
// jsonrpc.Handler, one message at a time. Behind that each message is a POST of its own,
// and the answer to a request comes as the response's body or on a stream of events with
// what belongs to the request before it. Each open request has a goroutine,
// which waits for the next request afterwards. Where the server is reached by plain HTTP, that
// goroutine writes and reads the connection itself (direct.go).
//
//	Queue ─▶ post ─▶ request ─▶ attempt ─POST─▶ server
//	Handler ◀─ inlet ◀─ answer ◀─ event ◀─ EventReader ◀── server
//
// Of which era a message is stands in it. Modern ones have headers that mirror them
// (header.go, params.go), and are cancelled by the end of their POST. Legacy ones belong to a
// session (session.go), whose other messages come on a stream that is opened by GET
// (stream.go); a server that has forgotten the session gets a new one, and one that knows
// only the transport of 2024-11-05 is met there (oldsse.go).
//
// # What fails
//
// A request is always answered, unless it was cancelled or the Conn is closed: where the
// server does not, the Conn does, with an error that says where, what and what to do
// (failure.go, network.go). It says so when the request may have been carried out. Again
// (again.go) goes only what cannot have been carried out, and what changes nothing when it
// is carried out twice.
//
// # Rules
//
// Nothing that is secret in the URL, in headers or in what a Credential sets is in an
// error or in what is logged. The order of messages is kept where the protocol needs it:
// the handshake comes before everything, and with it the session's stream, what changes a session before what follows it,
// notifications follow one another, and a cancellation follows its request and nothing else. Everything that a server sends
// is bounded.
package streamhttp
