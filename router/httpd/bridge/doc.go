// Package bridge lets programs that do not speak MCP call tools: plain HTTP and JSON beside the MCP
// endpoint, with the same authentication.
//
//	POST /call_tool ─▶ session.begin ─────▶ router.Session.Message ─▶ …
//	POST /call_tool ◀─ exchange.answer ◀─ session.QueueMessage ◀─ router ◀─ …
//
// A session is a router.Session of the modern era, one for each caller (package presence). The
// router handles its calls like those of any client: policies, limits, pins, confirmations, trace
// and audit log apply. The ID of a request ends in its correlation ID. The trace shows it, servers
// do not get it.
//
// A [Failure] says why a call failed, with one of the codes in failure.go. The router reports the
// reason for its own replies through client.CallObserver. A tool's result is passed on verbatim,
// including one with isError.
//
// Arguments are validated against the tool's inputSchema before the call (package
// toolman/mcpwire/jsonschema).
//
// The locks of package presence are not held while the router is called. The router
// calls session.QueueMessage and the methods of client.CallObserver with its own locks held.
package bridge
