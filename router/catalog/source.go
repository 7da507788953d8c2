package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"toolman/mcpwire"
	"toolman/router/apps"
)

// NameLimit is the maximum length of a name that all clients accept.
const NameLimit = 64

// A Source describes an upstream server in the catalog.
type Source struct {
	Name       string // unique; for display
	PolicyName string // its name in policies and in full names of items; several servers may share it
	Namespace  string
	URISep     string // between a namespace and a URI: "_" or "+"
	Modern     bool   // of the modern era; set before the server's items are offered
	Server     any    // the server of this source; opaque to the catalog
}

// Era returns the era of the server.
func (s *Source) Era() mcpwire.Era {
	if s.Modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// HasName reports whether name is the server's own name or its name in policies, which other
// servers may share.
func (s *Source) HasName(name string) bool { return s.Name == name || s.PolicyName == name }

// prefix returns the part of an exposed name before the server's own name.
func (s *Source) prefix(k mcpwire.Kind) string {
	switch {
	case s.Namespace == "":
		return ""
	case k.IsURI():
		return s.Namespace + s.URISep
	}
	return s.Namespace + "_"
}

// Expose returns the name under which clients see an item. It returns the server's own URI of a
// page, which is another one if several servers use it (see Entry.among).
func (s *Source) Expose(k mcpwire.Kind, name string) string {
	if k.IsURI() && apps.IsPage(name) {
		return name
	}
	full := s.prefix(k) + name
	if k.IsURI() || Portable(full) {
		return full
	}
	return portableName(full)
}

// Portable reports whether every client accepts the name.
func Portable(name string) bool {
	return len(name) <= NameLimit && strings.IndexFunc(name, NotPortable) < 0
}

// NotPortable reports whether some clients reject names with this character.
func NotPortable(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
}

// portableName returns a portable replacement for a name: its portable characters and a hash of the
// whole name, so that the result is unique and the same after every start.
func portableName(full string) string {
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
