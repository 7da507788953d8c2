// Package bridge lets programs call tools that do not speak MCP: plain HTTP and JSON beside
// the MCP endpoint, behind the same guard.
//
//	POST /call_tool ─▶ session.begin ─▶ router.Session.Message ─▶ …
//	POST /call_tool ◀─ call.wait ◀───── session.Queue ◀─ router ◀─ …
//
// A session is a router.Session of the modern era, one for each caller. So a call is one
// like any other: policies, limits, pins, dangerous tools, trace and audit are the
// router's, and nothing of that is decided here. Requests are frames of ours, under ids of
// ours that end in the correlation id: the trace shows it, and no server gets it.
//
// Why a call was not carried out is a [Failure], with one of the codes that failure.go has.
// The router says it through router.Ledger; what a server answers is never looked through
// for that, and a tool's result is passed on byte for byte, also one that says isError.
//
// Arguments are held against the tool's inputSchema before the call is made (inputschema):
// the schema is its server's word, and never makes toolman read a file or a network.
//
// Locks: Bridge.mu, then session.mu, then call.mu. None is held while the router is called,
// which itself calls session.Queue and the methods of router.Ledger with its own locks held.
package bridge
