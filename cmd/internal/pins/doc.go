// Package pins reads, writes and compares tools.lock, which records every tool, resource, template
// and prompt as it was when it was last accepted.
//
// The file is JSON lines. The first line has the version of the format; each of the others is one
// item. They are sorted, so that a change of one item is a change of one line:
//
//	{"toolman_lock":1}
//	{"kind":"tool","name":"fs_read_file","server":"fs","era":"legacy","refId":"sha256:…","definition":{…}}
//
// name is the item's name as clients see it, server and era are those of the server that offered
// it, definition is the item in canonical JSON (see mcpwire.Item.Definition) and refId is the hash
// of that. A definition longer than 64 KiB is left out: refId then tells that it has changed, but
// not how.
//
// A line must be exactly as it would be written. Other lines are rejected, with their number, and
// never overwritten.
package pins
