// Package shared keeps the saved toolsets of a cluster: in a document that all replicas share, with
// a copy in the file toolsets.json of each. A [Shelf] is a toolset.Shelf.
//
// # Document and copy
//
// The document counts. Each replica asks for it every second and whenever somebody uses a toolset,
// and then replaces its file. If there is no document yet, the first replica with a file makes it.
// What else was in the file of a replica is in toolsets.json.old then.
//
// If the engine does not answer, the last known toolsets can be used, and not changed.
//
// # Lost writes
//
// A document has the generation in which it was made, before the text. If the engine has an earlier
// version of the same generation than a replica knows, it has lost writes, and the replica puts the
// later text back. If it has none, the replica makes a new one of what it knows. A document of
// another generation replaces what the replica knows.
package shared
