// Package presence knows the callers of an HTTP front (packages httpd and bridge), and keeps their
// sessions: which sessions there are, which of their requests are open, and when a session ends
// because it is idle, the front closes, or its caller has lost its rights.
//
//	Registry ──▶ Session (one router.Session) ──▶ open requests, by ID
//
// Locks: Registry.mu, then Session.mu. Neither is held while the router or a callback of the front
// is called, except Front.New, which runs under Registry.mu.
package presence
