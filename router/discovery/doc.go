// Package discovery finds out what a server is and what it offers: by the handshake of its era, and by
// reading its lists.
//
// A server that is not known is asked in the era of the first client, or in the one in which it was
// pinned, and then in the other: 2025-11-25, Lifecycle, and 2026-07-28, Versioning.
package discovery
