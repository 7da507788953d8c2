// Package httpd serves a router's sessions over streamable HTTP: the legacy era with
// sessions, a GET stream and DELETE (2025-11-25, Transports), and the modern one with a
// POST a request and nothing else (2026-07-28, Streamable HTTP), at one endpoint. Each
// POSTed message says itself of which era it is; headers only have to agree with it.
//
//	POST ─▶ Endpoint.post ─▶ session.ask ─▶ router.Session.Message ─▶ …
//	POST ◀─ stream.serve ◀── session.Queue ◀─ router ◀─ …            (the answer)
//	POST ◀─ stream.serve ◀── call.Queue ◀──── router ◀─ …            (progress during it)
//	GET  ◀─ stream.serve ◀── session.Queue ◀─ router ◀─ …            (all else, legacy)
//
// A session is a router.Session with all that its client has open. Clients of the
// legacy era have one each. Requests of the modern era stand for themselves, so all of
// one caller share one, and what their programs chose for themselves may collide there:
// the router sees each request under an id of ours, and under a progress token of ours in
// the modern era; the client's own come back as they were sent. Nothing else in a message
// changes, but that line ends within it become spaces.
//
// A stream is what one response of HTTP is to carry. Whoever puts something into it never
// waits: the goroutine of net/http that serves the request writes it. One message that
// is an answer goes out as JSON; anything before it makes the response a stream of events. A
// client that does not read has its stream ended when too much waits, and nobody else
// notices. GET streams and subscriptions, which may stay open for days, leave net/http once
// they have begun: they have their connections to themselves, and a goroutine that writes
// only while there is something to write.
//
// Who may come in, and as whom, is package guard's to say, through Options.Caller.
//
// Locks: those of sessions, then session.mu, then stream.mu. None is held while the router
// is called, which itself calls into session.Queue with its own locks held.
package httpd
