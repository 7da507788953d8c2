// Package discovery finds the authorization server of an MCP server, and what it supports.
//
// An MCP server names its authorization servers in its protected resource metadata (RFC 9728). The
// challenge of a response with 401 says where these are; otherwise they are at a well-known URL. An
// authorization server describes itself in its metadata (RFC 8414, or OpenID Connect Discovery).
// Servers of 2025-03-26 have no protected resource metadata: their own origin is the authorization
// server.
//
// # Rules
//
// Metadata for another server, or of another issuer, are never used. Without S256 among the
// methods of PKCE there is no login, unless the configuration says so. Each endpoint must be a URL
// of http or https without a user; that for authorization must be https, or be on this machine.
package discovery
