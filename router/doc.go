// Package router connects the upstream servers to the clients.
//
// A call takes this way. Everything between the two pipes runs on the goroutine that read the frame:
//
//	client ─▶ Session.Message ─▶ routeLocked ─▶ checkLocked ─▶ forward ─▶ Upstream.submit ─▶ server
//	client ◀─ Session.pass ◀─ Upstream.response ◀─ Upstream.Message ◀─────────────────────── server
//
// # Files
//
// Messages of the client:
//
//	session.go           dispatches messages; request.go is a request while it is handled
//	checks.go            lists the checks of a request that names an item; refuse.go words refusals
//	forward.go           passes requests on; route_cache.go those like the one before
//	park.go              keeps requests until the servers have started
//	background.go        runs what would block, such as reading saved toolsets
//	cancel.go, end.go    cancel calls, and end sessions
//	initialize.go, list.go, builtin.go   answer what is toolman's own
//	activation_reply.go  answers a call that has changed the client's view
//	announce.go          sends list_changed
//
// The two eras of MCP (package mcpwire):
//
//	era.go               tells the era of a request
//	translate.go         makes messages of one era fit the other
//	rounds.go            asks a legacy client for what a modern server needs, and repeats the call
//	inquire.go, suspend.go, resume.go, turn.go   suspend a modern client's call while a legacy server
//	                     needs input; signer.go signs the state that the client brings back
//
// Confirmation of dangerous tools:
//
//	confirm.go           asks a person before a dangerous tool runs; permit.go does so for modern clients
//	confirmation.go      words the question
//
// Subscriptions and log levels:
//
//	listen.go, subscribe.go       subscriptions of clients
//	upstream_subscriptions.go     toolman's own subscriptions to servers
//	level.go, pending_log_level.go, tasks.go
//
// Upstream servers:
//
//	upstream.go, start.go, handshake.go, lists.go, status.go   a server's life and what it offers
//	call.go, relay.go, admission.go, timeout.go, malformed.go  calls and what servers send
//	upstream_requests.go, server_requests.go   requests of servers to the client
//	reconnect.go         connects again to servers that toolman has not started
//	dedicated.go, process_quota.go, lease.go, per_session.go   servers that sessions do not share
//
// The whole: router.go, options.go, reload.go, catalogs.go, view_cache.go, client.go. For operators:
// explain.go, preview.go, toolstatus.go, decide.go (audit). For callers without MCP: observer.go.
//
// # Goroutines
//
// On Linux one goroutine of peer.Loop reads all pipes. An upstream has one goroutine that waits for
// its process, one that starts it (and stays if toolman has not started the server), one while it reads
// changed lists, and two of the jsonrpc2.Conn that matches toolman's own requests and their answers.
// A forwarded call uses none of these.
//
// # Locks
//
// The order is Router.mu, Session.mu, Upstream.mu, then the locks of package jsonrpc and of the trace.
// Session.mu is held while one message of the client is handled; nothing blocks meanwhile. Upstream.mu
// is held briefly. A Catalog and a View do not change, except for the pages of a View, which have a
// lock of their own.
//
// # Guarantees
//
// A session handles its messages in the order in which they came: a call that follows an activation
// sees it. Only the code that takes a call out of Upstream.calls answers it. A call and a list ask the
// same View what is active; a View has nothing that a policy denies. A dangerous tool runs once for
// one consent, with the arguments that the person has seen.
package router
