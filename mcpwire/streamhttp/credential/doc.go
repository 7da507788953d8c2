// Package credential makes the bearer tokens that remote MCP servers want to see: tokens
// that a client gets for itself (RFC 6749, 4.4), and tokens in a file that somebody else,
// or the refresh token beside it, keeps fresh.
//
// Its types are what streamhttp calls a Credential. They ask for a token when one is
// needed, one asker at a time, and keep it until it ends or a server refuses it. No error
// holds a token or a secret.
package credential
