// Package router joins one catalog of many upstream servers to their clients.
//
// A call goes through it like this; everything between the two pipes happens on
// the goroutine that read the frame:
//
//	client ─▶ Session.Message ─▶ View.find ─▶ Session.forward ─▶ Calls.Add ─▶ Upstream.peer ─▶ server
//	client ◀─ Session.out ◀───── Session.pass ◀─ Calls.Take ◀─── Upstream.Message ◀─────────── server
//
// Files are named after what they are about: session.go dispatches what the
// client sends, park.go keeps what comes before the servers are there, own.go answers
// what is toolman's own business, forward.go passes calls on, lastroute.go those like the one before, relay.go passes back what upstreams say, damage.go deals with what cannot
// be read, refuse.go says no, and means.go what the client can do about it, cancel.go takes calls back, admission.go has them wait where a server takes only so many; question.go and ask.go bring what upstreams ask to the client and back.
//
// Each request is of one of two eras, and so is each upstream (package mcpwire). era.go
// tells which, handshake.go finds out a server's, bridge.go makes what crosses from one
// to the other fit; listen.go holds the subscriptions of modern clients, follow.go
// toolman's own to servers, level.go who hears which log messages. rounds.go and
// roundend.go ask a legacy client what a modern server needs, and make the call again
// with the answers. inquire.go answers a modern client's call with what a legacy server
// asks, suspend.go keeps the call, resume.go goes on with it when the client comes back
// with the answers, and with what state.go has signed; turn.go knows which request waits.
//
// confirm.go asks a person before a dangerous tool runs, permit.go does that for modern
// clients, who come back with the answer; confirmation.go is what the person is shown, and
// danger.go knows which tools those are.
//
// pin.go holds back what is not as its pin says: it is in no list and no View, and all
// that is left of it is its name and why.
//
// activate.go, settle.go and describe.go are toolman_activate, callthrough.go is
// toolman_call; mode.go and clients.go say what is done for which client, and announce.go
// which changes it is told; catalog.go says what
// exists, allow.go what of it a policy lets a client have, limit.go what toolsets do, startviews.go what clients
// see at start, view.go what one client sees,
// resolve.go and spelling.go where a name leads, template.go which URIs are a template's, explain.go and activity.go why.
//
// client.go says for whom a session is, and what several of them share. private.go gives sessions processes of their own of servers that they must not share, privates.go counts them, lease.go
// single calls, and apiece.go all sessions of servers that are another for each.
//
// metatools.go are the tools about toolsets: toolsettools.go shows and enables them,
// managetools.go keeps and equips them, toolsetinfo.go describes them. selection.go is
// what they make of a view, library.go knows which there are (package toolset what they
// stand for), and apart.go reads and writes them.
// upstream.go, start.go and lists.go are an upstream's life (package dial its connection), end.go is the
// end, and reload.go what becomes of all of them when the configuration is another; again.go brings
// servers back that toolman has not started.
//
// ledger.go is for clients that are programs without MCP (package httpd/bridge).
//
// # Goroutines
//
// On Linux one goroutine of jsonrpc.Loop reads all pipes. An upstream has one that
// waits for its process, a short one that brings it up (which stays if toolman has not started the server), now and then one that reads
// changed lists, one that reads or writes toolsets, and two of the jsonrpc2.Conn that correlates toolman's own
// requests. None is on the way of a call.
//
// # Locks
//
// In this order: Router.mu, Session.mu, Upstream.mu, then the locks within jsonrpc
// and of tracing. Session.mu is held while one message of the client is handled;
// nothing that is done meanwhile waits for anybody. Upstream.mu is held for
// moments. The Catalog and the View do not change once they are made, but for the pages
// of a View, which has a lock of its own.
//
// # Promises
//
// A session's messages are handled in the order they came, so a call sent after an
// activation sees it. Whoever takes a call out of Upstream.calls answers it, and
// nobody else can. What is active is asked when a call comes, of the same View that
// lists are made from; what a policy denies is in no such View. A dangerous tool runs once
// for one consent, with the arguments that the person was shown.
package router
