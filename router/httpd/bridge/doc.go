// Package bridge lets programs that do not speak MCP call tools: plain HTTP and JSON beside the MCP
// endpoint, with the same authentication.
//
//	POST /call_tool ─▶ session.begin ─────▶ router.Session.Message ─▶ …
//	POST /call_tool ◀─ exchange.answer ◀─ session.QueueMessage ◀─ router ◀─ …
//
// A session is a router.Session of the modern era, one for each caller (package presence). So the
// router treats a call like any other: it applies policies, limits, pins and confirmations, and writes
// trace and audit log. Nothing of that is decided here. The ID of a request ends in its correlation
// ID, which the trace shows and no server gets.
//
// A [Failure] tells why a call was not carried out, with one of the codes in failure.go. The router
// reports the reason through router.CallObserver; answers of servers are not searched for one. A tool's
// result is passed on verbatim, including one with isError.
//
// Arguments are validated against the tool's inputSchema before the call (package inputschema). A
// schema is written by a server: it cannot make toolman read a file or use the network.
//
// Locks: those of package presence, then call.mu. None is held while the router is called, which itself
// calls session.QueueMessage and the methods of router.CallObserver with its own locks held.
package bridge
