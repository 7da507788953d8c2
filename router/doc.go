// Package router joins upstream MCP servers to clients.
//
// A Router starts the servers of its Options, merges their items into one catalog, and makes a
// session for each client. Its parts are packages:
//
//	session     one client: dispatches its messages, checks and forwards its requests
//	clientstate what the sessions of one client share
//	builtin     toolman's own answers: lists, its tools and its resource
//	client      the connection to a client: reads, traces, audits, answers and refuses requests
//	input       requests for input from the client
//	confirm     asks the user to confirm calls of dangerous tools
//	subscribe   notifications that a client gets
//	loglevel    the log levels that clients want
//	pool        which process of a server a session uses
//	upstream    one server: its connection, its end and restart, and its items
//	feed        the notifications that a server is asked for
//	calls       the requests that a server has not answered
//	discovery   handshakes with servers, and their lists
//	catalog     all items of all servers
//	view        the items that one client sees
//	metatool    toolman's own tools
//	choose      what the names and globs of a toolman_activate mean
//
// # Files
//
//	router.go    the Router, its start and its end
//	options.go   the Options
//	sessions.go  makes sessions
//	servers.go   reloads the configuration, and replaces servers
//	catalog.go   builds the catalog, and the views that sessions start with
//	inspect.go   reports for operators and for toolman check and explain
//	adapter.go   the callbacks of upstreams and sessions
//
// # Goroutines
//
// On Linux one goroutine of peer.Loop reads all pipes, and does all the work for a forwarded call.
// The other goroutines are those of upstreams (package upstream), and one for each request that
// waits for the disk.
//
// # Locks
//
// The order is Router.mu, client.Conn.Mu, Upstream.mu, feed.Feed.mu, then the locks of package
// jsonrpc and of the trace. Conn.Mu is held while one message of a client is handled, and nothing
// blocks while it is held. Upstream.mu is held briefly. A Catalog and a View are immutable, except
// for the pages of a View, which have their own lock.
//
// # Guarantees
//
// A session handles its messages in the order of arrival: a call that follows an activation can use
// the activated items. Only the code that takes a call out of an upstream's table of pending calls
// answers it. Calls and lists use the same View to decide what is active. A View contains no item
// that a policy denies. A dangerous tool runs once for each confirmation, with the arguments that
// the person has seen.
package router
