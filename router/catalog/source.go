package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"toolman/mcpwire"
)

// NameLimit is the longest name that all clients take.
const NameLimit = 64

// A Source is what a catalog knows of an upstream server.
type Source struct {
	Name       string // unique, for people
	PolicyName string // what policies, and the full names of items, call it; several servers may share it
	Namespace  string
	URISep     string // between a namespace and a URI: "_" or "+"
	Modern     bool   // of the modern era; written before the server's items are shown
	Server     any    // whose source it is; a catalog does not look at it
}

// Era returns the era of the server.
func (s *Source) Era() mcpwire.Era {
	if s.Modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// HasName reports whether the server is called so: by its own name, or by that which policies
// have for it, which others may share.
func (s *Source) HasName(name string) bool { return s.Name == name || s.PolicyName == name }

// prefix is what stands before the upstream's own name.
func (s *Source) prefix(k mcpwire.Kind) string {
	switch {
	case s.Namespace == "":
		return ""
	case k.IsURI():
		return s.Namespace + s.URISep
	}
	return s.Namespace + "_"
}

// Expose returns the name under which clients see an item.
func (s *Source) Expose(k mcpwire.Kind, name string) string {
	full := s.prefix(k) + name
	if k.IsURI() || Portable(full) {
		return full
	}
	return shorten(full)
}

// Portable reports whether every client takes the name.
func Portable(name string) bool {
	return len(name) <= NameLimit && strings.IndexFunc(name, NotPortable) < 0
}

func NotPortable(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
}

// shorten makes a portable name out of one that is not: what can stay, and a
// hash of the whole, so that it is the same at every start and unlike any other.
func shorten(full string) string {
	sum := sha256.Sum256([]byte(full))
	tail := "_" + hex.EncodeToString(sum[:4])
	clean := strings.Map(func(r rune) rune {
		if NotPortable(r) {
			return '_'
		}
		return r
	}, full)
	return clean[:min(len(clean), NameLimit-len(tail))] + tail
}
