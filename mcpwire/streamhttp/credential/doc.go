// Package credential provides bearer tokens for remote MCP servers: tokens that the client requests
// for itself (RFC 6749, 4.4), and tokens in a file, which another program renews, or the refresh
// token in the file.
//
// Its types implement streamhttp.Credential. They request a token when it is needed, one request at
// a time, and keep it until it expires or a server rejects it. No error contains a token or a
// secret.
package credential
