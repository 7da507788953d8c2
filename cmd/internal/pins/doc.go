// Package pins reads, writes and compares tools.lock: what every tool, resource, template and prompt was when somebody
// last looked at it.
//
// The file is JSON lines. The first says which version of the format it is; every other is one item, and they are sorted, so
// that a change of one item is a change of one line:
//
//	{"toolman_lock":1}
//	{"kind":"tool","name":"fs_read_file","server":"fs","era":"legacy","refId":"sha256:…","definition":{…}}
//
// name is the item's as clients see it, server the one that offered it, era the one in which
// it was asked, definition what it is in canonical JSON (see
// mcpwire.Item.Definition) and refId the hash of that. A definition longer than 64 KiB is left out: then refId says
// that it has changed, but nothing says how.
//
// A line must be exactly as it would be written. What is not is refused, with its number, and never written over.
package pins
