// Package toolset says which tools a named set of them stands for.
//
// A set of tools.toml has names and globs. A saved one has references, each of which
// names a tool twice: by the name that clients see, and by the hash of its definition
// (package mcpwire, RefID). Between the day a set is saved and the day it is used a
// tool may have changed, and [Index.Resolve] tells how:
//
//	name leads to   hash leads to   it is      strict    stale references allowed
//	a tool          the same        Match      used      used
//	a tool          nothing         Changed    refused   used, with a warning
//	nothing         a tool          Renamed    refused   used, with a warning
//	a tool          another one     Split      refused   the one with the name is used, with a warning
//	nothing         several         Ambiguous  refused   the first is used, with a warning
//	nothing         nothing         Missing    skipped   skipped
//
// A tool that went to another server and changed there has lost both, and is Missing:
// the text then names those that are called alike on other servers. A reference with
// one of the two is a Match when that leads to exactly one tool.
//
// What a client reads of it names no tool that the client does not have: see [Expansion.Warnings].
//
// The package is pure: it reads no files and knows no server. Its texts show names and
// descriptions as they are; who shows them cleans them.
package toolset
