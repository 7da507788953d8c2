// Package toolset determines which tools belong to a toolset.
//
// A set of tools.toml has names and globs. A saved set has references. A reference names a tool
// twice: by its name for clients, and by the hash of its definition (mcpwire.RefID). After
// a set was saved, its tools may change. [Index.Resolve] compares both identifiers:
//
//	name leads to   hash leads to   it is      strict    stale references allowed
//	a tool          the same        Match      used      used
//	a tool          nothing         Changed    refused   used, with a warning
//	nothing         a tool          Renamed    refused   used, with a warning
//	a tool          another one     Split      refused   the one with the name is used, with a warning
//	nothing         several         Ambiguous  refused   the first is used, with a warning
//	nothing         nothing         Missing    skipped   skipped
//	nothing         nothing         Alike      skipped   skipped
//
// Alike says that tools have the definition that was saved, but for the name: the server may have
// renamed the tool. A saved reference has a third hash to find that out, of the definition without
// the name. It suggests tools and selects none, since small definitions are often alike.
//
// A tool that has moved to another server and changed there is Missing: the text then suggests
// tools of the same name on other servers. A reference with only one identifier is a Match if that
// leads to exactly one tool.
//
// A saved file may hold sets and references that cannot be read. They are Broken: nothing of them
// is used, whatever is allowed, and they are stored as they were.
//
// Texts for clients name only tools that the client may use: see [Expansion.Warnings].
//
// The package does no I/O. Its texts contain names and descriptions of servers, which are not
// sanitized.
package toolset
