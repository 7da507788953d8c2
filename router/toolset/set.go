package toolset

import (
	"context"
	"fmt"
	"regexp"
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
	File        string // the name of tools.toml, when it stands there
	Line        int    // where it begins in that; 0 for a saved one
}

// SavedIn is where saved sets are, in messages.
const SavedIn = ".toolman/toolsets.json"

// String names the set and says where it stands.
func (s *Set) String() string {
	if s.Saved() {
		return fmt.Sprintf("toolset %s (%s)", s.Name, SavedIn)
	}
	return fmt.Sprintf("toolset %s (%s:%d)", s.Name, s.File, s.Line)
}

// Saved reports whether the set comes from the file of saved ones.
func (s *Set) Saved() bool { return s.Line == 0 }

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

// A Shelf keeps toolsets that were saved, by name. Both methods may wait for the disk.
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

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`) })

// NameRule says what a name of a toolset may be.
const NameRule = "up to 64 letters, digits, _, . and -, a letter or digit first"

// ValidName reports whether a toolset may have the name.
func ValidName(name string) bool { return nameForm().MatchString(name) }

var refForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// ValidRefID reports whether id has the form of a tool's reference: "sha256:" and 64
// hexadecimal digits.
func ValidRefID(id string) bool { return refForm().MatchString(id) }
