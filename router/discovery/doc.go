// Package discovery does the handshake with a server and reads its lists.
//
// If the era of the server is not configured, the handshake first tries the era in which its items
// were pinned, or that of the first client, and then the other one (2025-11-25, Lifecycle, and
// 2026-07-28, Versioning).
package discovery
