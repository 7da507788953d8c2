// Package session serves one client.
//
// A call takes this way. Everything between the two pipes runs on the goroutine that read the frame:
//
//	client -> Session.Message -> routeLocked -> checkLocked -> forward -> Upstream.Submit  -> server
//	client <- Conn.Pass       <- Session.Answer             <- Upstream.Message            <- server
//
// # Files
//
//	session.go   dispatches the client's messages
//	requests.go  finds out where a request leads, checks it and passes it on; initialize
//	answer.go    what upstreams tell the session (upstream.Caller); cancels calls and ends sessions
//	builtin.go   answers what is toolman's own: lists, toolman_activate and the other tools
//	waiting.go   requests that wait: for servers, for the disk, for a log level
//	catalog.go   changes of the catalog, of the configuration and of rights; reports on tools
//
// A session handles its messages in the order in which they came: a call that follows an activation
// sees it. Conn.Mu is held while one message of the client is handled; nothing blocks meanwhile. A method
// whose name ends in Locked needs it.
package session
