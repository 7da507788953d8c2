// Package client is the connection to one client: who the client is and what it may have, and how its
// requests are read, traced, audited, answered and refused.
//
// A Conn knows nothing of what a session does for its client; package session adds that. Most of its
// methods are for the code that handles a message of the client and holds Conn.Mu.
package client
