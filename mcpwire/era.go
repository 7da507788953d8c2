package mcpwire

import (
	"slices"
	"strings"
)

// An Era is a group of revisions whose messages have the same form.
type Era uint8

// The eras.
const (
	// Unknown is the era of a peer that has sent nothing yet.
	Unknown Era = iota
	// Legacy has a handshake, sessions, and requests from server to client.
	Legacy
	// Modern has none of these. Each request describes its sender. A server that needs input
	// responds with input requests, and then gets the original request again.
	Modern
)

var eraNames = [...]string{"unknown", "legacy", "modern"}

// String returns the era as tools.toml and the trace spell it.
func (e Era) String() string { return eraNames[e] }

// ParseEra returns the era of that name, or Unknown for any other text.
func ParseEra(name string) Era { return Era(max(0, slices.Index(eraNames[:], name))) }

// Revisions of the protocol that toolman speaks, oldest first.
const (
	V2024_11_05 = "2024-11-05"
	V2025_03_26 = "2025-03-26"
	V2025_06_18 = "2025-06-18"
	V2025_11_25 = "2025-11-25"
	V2026_07_28 = "2026-07-28"
)

// Latest is the newest revision with a handshake, and Newest the newest one.
const (
	Latest = V2025_11_25
	Newest = V2026_07_28
)

var revisions = [...]string{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28}

// firstModern is the index in revisions of the first modern one.
const firstModern = 4

// EraOf returns the era of a revision, or Unknown if toolman does not speak it.
func EraOf(revision string) Era {
	switch i := slices.Index(revisions[:], revision); {
	case i < 0:
		return Unknown
	case i < firstModern:
		return Legacy
	}
	return Modern
}

// modernRevisions returns the list of the modern revisions that toolman speaks, as JSON.
func modernRevisions() string { return `["` + strings.Join(revisions[firstModern:], `","`) + `"]` }

// Mutual returns the newest revision of an era that toolman and a peer have in common, or "". The
// peer has listed its own.
func Mutual(listed []string, e Era) string {
	for _, revision := range slices.Backward(revisions[:]) {
		if EraOf(revision) == e && slices.Contains(listed, revision) {
			return revision
		}
	}
	return ""
}

// Supported reports whether version is a revision with a handshake that toolman speaks.
func Supported(version string) bool { return EraOf(version) == Legacy }

// Negotiate returns the revision for the response to initialize: the one that the client asked for,
// or else the newest with a handshake (2025-11-25, Lifecycle, Version Negotiation).
func Negotiate(asked string) string {
	if Supported(asked) {
		return asked
	}
	return Latest
}
