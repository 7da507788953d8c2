// Package store reads and writes the files that toolman keeps beside tools.toml: tools.lock with
// the pins, and in the folder .toolman the toolsets.
//
// # Changes
//
// Several programs may change a file at the same time. A reader always sees a whole file, old or
// new, whatever happens to the writer. A change is written to a temporary file in the same folder,
// synced to the disk and renamed over the old file. Meanwhile the writer holds a lock on a file
// with the same name and ".lock" appended, which it removes with the lock. If a writer is killed,
// what it leaves of either is harmless, and the next writer removes it. Readers need no lock. A
// file that cannot be parsed is never overwritten.
//
// # tools.lock
//
// tools.lock records every tool, resource, template and prompt as it was when it was last accepted.
// The file is JSON lines. The first line has the version of the format; each of the others is one
// item. They are sorted, so that a change of one item is a change of one line:
//
//	{"toolman_lock":1}
//	{"kind":"tool","name":"fs_read","server":"fs","era":"legacy","refId":"sha256:…","definition":{…}}
//
// name is the item's name as clients see it, server and era are those of the server that offered
// it, definition is the item in canonical JSON (see mcpwire.Item.Definition) and refId is the hash
// of that. A definition longer than 64 KiB is left out: refId then tells that it has changed, but
// not how. A line must be exactly as it would be written. Other lines are errors, with their
// number.
//
// # Toolsets
//
// toolsets.json has the saved toolsets, equipped.json the name of the one that is equipped at the
// next start. toolsets.json is an object of toolsets by their names:
//
//	{
//	  "dev-essentials": {
//	    "name": "dev-essentials",
//	    "description": "Essential tools for web development",
//	    "version": "1.0.0",
//	    "createdAt": "2024-01-15T10:30:00Z",
//	    "tools": [
//	      {"namespacedName": "git_status", "refId": "sha256:…", "namelessRefId": "sha256:…"}
//	    ]
//	  }
//	}
//
// name and tools are required, and a reference needs namespacedName or refId. A toolset that a
// client of toolman serve has saved has that client as its owner. Its key starts with the owner, so
// that each owner can use any name:
//
//	"tokens::reviewer/dev-essentials": {
//	  "name": "dev-essentials",
//	  "owner": "tokens::reviewer",
//	  …
//
// A toolset without an owner is the operator's. What is not understood (another member, a value of
// another kind) makes only its toolset or its reference unusable, and stays in the file as it is. A
// member that is given twice is an error of the whole file.
package store
