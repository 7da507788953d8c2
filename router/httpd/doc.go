// Package httpd serves a router's sessions over streamable HTTP at one endpoint: the legacy era
// with sessions, a GET stream and DELETE (2025-11-25, Transports), and the modern era, in which
// each request is a POST of its own (2026-07-28, Streamable HTTP). Each POSTed message tells its
// era itself; headers only have to agree with it.
//
//	POST ─▶ exchange.post ─▶ session.open ──▶ router.Session.Message ─▶ …
//	POST ◀─ response ◀─ stream ◀─ session ◀── router ◀─ …            (the answer)
//	POST ◀─ response ◀─ stream ◀─ call ◀───── router ◀─ …            (progress before the answer)
//	GET  ◀─ response ◀─ stream ◀─ session ◀── router ◀─ …            (all else, legacy)
//
// A session is a router.Session (package presence). Each client of the legacy era has one. The
// requests of the modern era of one caller share one. If two open requests of a session have the
// same ID, because several programs share it, the router gets the later one under another ID, and
// the client its own back. Nothing else in a message changes, except that line breaks inside it
// become spaces.
//
// A stream holds what one response carries. Putting a message into it never blocks: the goroutine
// of net/http that serves the request writes it. If one answer is all there is, it is sent as JSON;
// otherwise the response is a stream of events. If too much waits for a client that does not read,
// its stream ends; other clients are not affected. GET streams and subscriptions may stay open for
// days: over HTTP/1.1 they leave net/http (hijack.go).
//
// Options.Caller authenticates requests; see packages guard and modes.
//
// Locks: those of package presence, then session.mu, then stream.mu. None is held while the router
// is called, which itself calls session.QueueMessage with its own locks held.
package httpd
