// Package clientstate holds what the sessions of one client share: its activations.
//
// A client is known by the ID that a trusted proxy names (mcp-client-id), together with its
// principal and its agent. A Store has one value for each such client. Its sessions are Members:
// they begin with the value, replace it when their client activates something, and are notified
// when another session has replaced it. The value stays for a while after the last session.
//
// Locks: Store.mu is a leaf. No callback is called while it is held.
package clientstate
