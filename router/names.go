package router

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"toolman/mcpwire"
)

// nameLimit is the longest name that all clients take.
const nameLimit = 64

// A naming joins the namespace of a server to the names of its items.
type naming struct {
	namespace string
	uriSep    string // between a namespace and a URI; "_" or "+"
}

// prefix is what stands before the upstream's own name.
func (n naming) prefix(k mcpwire.Kind) string {
	switch {
	case n.namespace == "":
		return ""
	case k.IsURI():
		return n.namespace + n.uriSep
	}
	return n.namespace + "_"
}

// expose returns the name under which clients see an item.
func (n naming) expose(k mcpwire.Kind, name string) string {
	full := n.prefix(k) + name
	if k.IsURI() || portable(full) {
		return full
	}
	return shorten(full)
}

// portable reports whether every client takes the name.
func portable(name string) bool {
	return len(name) <= nameLimit && strings.IndexFunc(name, notPortable) < 0
}

func notPortable(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
}

// shorten makes a portable name out of one that is not: what can stay, and a
// hash of the whole, so that it is the same at every start and unlike any other.
func shorten(full string) string {
	sum := sha256.Sum256([]byte(full))
	tail := "_" + hex.EncodeToString(sum[:4])
	clean := strings.Map(func(r rune) rune {
		if notPortable(r) {
			return '_'
		}
		return r
	}, full)
	return clean[:min(len(clean), nameLimit-len(tail))] + tail
}
