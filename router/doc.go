// Package router joins upstream MCP servers to clients.
//
// A Router starts the servers of its Options, merges what they offer into one catalog, and makes a
// session for each client. The parts are packages of their own:
//
//	session     one client: dispatches its messages, checks and forwards its requests
//	client      the connection to a client: reads, traces, audits, answers and refuses requests
//	input       what clients are asked, by servers and before dangerous tools run
//	subscribe   what a client hears of by itself
//	pool        which process of a server a session uses
//	upstream    one server: its life, the items that it offers, its calls
//	discovery   handshakes with servers, and their lists
//	catalog     all items of all servers; view has what one client sees of them
//	metatool    toolman's own tools
//
// # Files
//
//	router.go    the Router, its start and its end
//	options.go   what it serves, and how
//	sessions.go  makes sessions
//	servers.go   reloads the configuration, and connects again to servers that were lost
//	catalog.go   builds the catalog, and the views that clients begin with
//	inspect.go   reports for operators and for toolman check and explain
//	adapter.go   the router as upstreams and sessions see it
//
// # Goroutines
//
// On Linux one goroutine of peer.Loop reads all pipes, and a forwarded call runs on it from pipe to
// pipe. The other goroutines are those of upstreams (package upstream), and one for each request that
// waits for the disk.
//
// # Locks
//
// The order is Router.mu, client.Conn.Mu, Upstream.mu, then the locks of package jsonrpc and of the
// trace. Conn.Mu is held while one message of a client is handled; nothing blocks meanwhile.
// Upstream.mu is held briefly. A Catalog and a View do not change, except for the pages of a View,
// which have a lock of their own.
//
// # Guarantees
//
// A session handles its messages in the order in which they came: a call that follows an activation
// sees it. Only the code that takes a call out of an upstream's table of calls answers it. A call and a
// list ask the same View what is active; a View has nothing that a policy denies. A dangerous tool runs
// once for one consent, with the arguments that the person has seen.
package router
