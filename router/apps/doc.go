// Package apps knows MCP Apps (the extension io.modelcontextprotocol/ui, revision 2026-01-26): what
// a tool's definition says about its page, under which URIs clients see pages, and who declares the
// extension.
//
// A page is a resource whose URI has the scheme ui://. A tool names its page in
// _meta.ui.resourceUri or, as older servers do, in _meta["ui/resourceUri"]. Hosts show the result
// of the tool in the page. The page can call tools of its server: it uses the server's own names,
// and the host forwards the call to toolman.
//
// # URIs
//
// Clients see a page under its server's own URI, because hosts recognize pages by their scheme. If
// several servers use one URI, each of them gets it as ui://NAMESPACE/ and the rest, see [Contest].
//
// The package has no state beyond [Opened] and does no I/O.
package apps
