// Package client implements the connection to one client: its identity and its permissions, and how
// its requests are read, traced, audited, answered and refused, and wait.
//
// Package session adds what a session does for its client. Unless the comment of a method says
// otherwise, it is called while a message of the client is handled, with Conn.Mu held.
package client
