// Package pool chooses the process of a server that a session uses: a shared one, one that is
// dedicated to the session, or one that is leased for a single call.
//
// A process is shared unless its server could send requests to a client: a server of the legacy era
// does not say during which call it does so. A client that can answer such requests therefore gets
// dedicated processes. If several programs of the modern era speak through one session, each call
// that can answer requests leases a process. A server whose configuration depends on the session
// (upstream.Server.ForSession) is never shared.
//
// All methods of Servers need the session's Conn.Mu, except ReleaseAll and those in lookup.go,
// which answer programs that ask about servers and tools.
package pool
