// Package upstream connects toolman to the configured MCP servers.
//
// An Upstream is one server: its process or connection, its handshake, its restarts and its items.
// It knows its callers only by the interface Caller, and the router only by Env and the interface
// Router.
//
// A call goes from Upstream.Calls to the server, and its response goes from Message to
// Caller.Answer.
//
// Upstream.mu is held briefly. A Caller may hold its own lock while it calls methods of an
// Upstream. An Upstream holds no lock while it calls a Caller.
//
// An upstream has one goroutine that waits for its process, one that starts it and starts it again,
// one while it reads changed lists again, and two of jsonrpc.Control, which matches toolman's own
// requests with their responses. A forwarded call needs none of these.
package upstream
