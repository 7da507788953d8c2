// Package record describes a session in a form from which another process can make it again: what
// its client has said of itself, what it has switched and subscribed to, and which servers with
// state it uses.
//
// A record names tools, toolsets and servers, and has no definitions: the other process has the
// same configuration. It contains no credential, and nothing that is under way.
package record
