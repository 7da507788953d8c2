// Package session serves one client.
//
// A call takes the following path. Everything between the two pipes runs on the goroutine that read
// the frame:
//
//	client -> Session.Message -> routeLocked -> checkLocked -> forward -> Upstream.Submit  -> server
//	client <- Conn.Pass       <- Session.Answer             <- Upstream.Message            <- server
//
// # Files
//
//	session.go   dispatches the client's messages
//	requests.go  routes, checks and forwards requests; initialize
//	answer.go    implements upstream.Caller; cancels calls and ends sessions
//	record.go    the session's record, and how a session is made again from one
//	catalog.go   changes of the catalog, the configuration and the policy; reports on tools
//
// Package builtin answers lists and calls of toolman's own tools.
//
// A session handles its messages in the order in which they arrived, so a call that follows an
// activation sees its effect. Conn.Mu is held while a message of the client is handled, and nothing
// blocks meanwhile. A method whose name ends in Locked requires Conn.Mu.
package session
