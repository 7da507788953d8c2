package toolset

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A Set is a toolset: a name for some tools. It has Patterns when it stands in
// tools.toml, and Tools when it was saved.
type Set struct {
	Name        string
	Description string
	Version     string    // "" when nobody gave one
	CreatedAt   time.Time // zero when nobody knows
	Tools       []Ref
	Patterns    []Pattern
	Owner       string // of a saved one: who may delete it; "" is the operator
	File        string // the name of tools.toml, when it stands there
	Line        int    // where it begins in that; 0 for a saved one
}

// SavedIn is where saved sets are, in messages.
const SavedIn = ".toolman/toolsets.json"

// String names the set and says where it stands.
func (s *Set) String() string {
	switch {
	case s.Saved() && s.Owner != "":
		return fmt.Sprintf("toolset %s of %s (%s)", s.Name, s.Owner, SavedIn)
	case s.Saved():
		return fmt.Sprintf("toolset %s (%s)", s.Name, SavedIn)
	}
	return fmt.Sprintf("toolset %s (%s:%d)", s.Name, s.File, s.Line)
}

// Saved reports whether the set comes from the file of saved ones.
func (s *Set) Saved() bool { return s.Line == 0 }

// SavedBy reports whether the set is a saved one of that owner.
func (s *Set) SavedBy(owner string) bool { return s.Saved() && s.Owner == owner }

// Key is what a shelf keeps the set under.
func (s *Set) Key() string { return Key(s.Owner, s.Name) }

// Key is what a shelf keeps the set under that has this owner and name. Owners can use the same
// names.
func Key(owner, name string) string {
	if owner == "" {
		return name
	}
	return owner + "/" + name
}

// A Ref names one tool, by either of its two identifiers or both.
type Ref struct {
	NamespacedName string // as clients see it
	RefID          string // of its definition
}

// String returns the name, or what there is.
func (r Ref) String() string {
	if r.NamespacedName != "" {
		return r.NamespacedName
	}
	return r.RefID
}

// A Pattern is a name or a glob.
type Pattern struct {
	Text string
	Glob interface{ Match(name string) bool }
}

// A Shelf keeps toolsets that were saved, by [Set.Key]. Both methods may wait for the disk.
type Shelf interface {
	// Load returns all of them. What it returns is the caller's.
	Load() (map[string]Set, error)
	// Update has them changed, while nobody else changes them. An error of change is
	// returned as it is and changes nothing.
	Update(ctx context.Context, change func(map[string]Set) error) error
}

// Bounds on what a toolset holds.
const (
	MaxTools       = 1000
	MaxDescription = 1000 // bytes
)

// Bounds on what one owner has saved. The operator, whose file it is, has none but the file's own.
const (
	MaxOwned     = 50   // toolsets
	MaxOwnedRefs = 2000 // tools in all of them
)

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`) })

// NameRule says what a name of a toolset may be.
const NameRule = "up to 64 letters, digits, _, . and -, a letter or digit first"

// ValidName reports whether a toolset may have the name.
func ValidName(name string) bool { return nameForm().MatchString(name) }

// OwnerRule says what an owner of a toolset may be.
const OwnerRule = "1 to 2048 visible ASCII characters but for /"

// ValidOwner reports whether owner may be the owner of a toolset.
func ValidOwner(owner string) bool {
	other := strings.IndexFunc(owner, func(c rune) bool { return c <= ' ' || c > '~' || c == '/' })
	return other < 0 && 0 < len(owner) && len(owner) <= 2048
}

var refForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// ValidRefID reports whether id has the form of a tool's reference: "sha256:" and 64
// hexadecimal digits.
func ValidRefID(id string) bool { return refForm().MatchString(id) }
