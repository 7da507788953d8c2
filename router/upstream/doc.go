// Package upstream connects toolman to the configured MCP servers.
//
// An Upstream is one server: its process or connection, its handshake, the items that it offers, the
// calls that it has not answered, and what it is asked to tell of by itself. It knows its callers only
// by the interface Caller, and the router by Env and Host.
//
// A call goes from Submit to the server. Its answer goes from Message to Caller.Answer. Only the code
// that takes a call out of the table of calls answers it.
//
// Upstream.mu is held briefly. A Caller's lock may be held when methods of an Upstream are called, but
// not the other way round.
//
// An upstream has one goroutine that waits for its process, one that starts it, one while it reads
// changed lists, and two of the jsonrpc2.Conn that matches toolman's own requests and their answers. A
// forwarded call uses none of these.
package upstream
