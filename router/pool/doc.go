// Package pool says which process of a server a session uses: the one that sessions share, one that the
// session has for itself, or one that a single call leases.
//
// A process is shared unless its server could ask a client something: a server of the legacy era does
// not say during which call it asks. A client that can be asked therefore has processes of its own.
// Where several programs of the modern era speak through one session, each call that may be asked
// something leases one. A server whose configuration depends on the session (Server.For) is shared
// by nobody.
//
// All methods of Servers need the session's Conn.Mu, but for ReleaseAll and Unstarted.
package pool
