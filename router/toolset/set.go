package toolset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A Set is a toolset: a name for some tools. A set of tools.toml and a default one have Patterns, a
// saved one has Tools.
type Set struct {
	Name        string
	Description string
	Version     string    // may be ""
	CreatedAt   time.Time // zero if unknown
	Tools       []Ref
	Patterns    []Pattern
	Default     bool   // it is made from a server's tools; a saved set of the same name replaces it
	Owner       string // of a saved set: the client that may delete it; "" is the operator
	File        string // the name of tools.toml, for a set in it
	Line        int    // in File; 0 for a saved set
	Broken      string // what is wrong with a saved set that cannot be used; otherwise ""
	Raw         string // a broken set as its file has it, which is how it is stored again
}

// SavedIn is the file of saved sets, for messages.
const SavedIn = ".toolman/toolsets.json"

// String returns the name of the set, and its place.
func (s *Set) String() string {
	switch {
	case s.Saved() && s.Owner != "":
		return fmt.Sprintf("toolset %s of %s (%s)", s.Name, s.Owner, SavedIn)
	case s.Saved():
		return fmt.Sprintf("toolset %s (%s)", s.Name, SavedIn)
	}
	what := "toolset"
	if s.Default {
		what = "default toolset"
	}
	return fmt.Sprintf("%s %s (%s:%d)", what, s.Name, s.File, s.Line)
}

// Saved reports whether the set is a saved one.
func (s *Set) Saved() bool { return s.Line == 0 }

// SavedBy reports whether the set is a saved one of this owner.
func (s *Set) SavedBy(owner string) bool { return s.Saved() && s.Owner == owner }

// Key returns the key of the set in a Shelf.
func (s *Set) Key() string { return Key(s.Owner, s.Name) }

// Key returns the key of a set in a Shelf. Different owners can use the same names.
func Key(owner, name string) string {
	if owner == "" {
		return name
	}
	return owner + "/" + name
}

// A Ref names a tool by one or both of its identifiers. NamelessRefID identifies no tool: it only
// finds what a missing tool may have become.
type Ref struct {
	NamespacedName string // its name for clients
	RefID          string // the hash of its definition
	NamelessRefID  string // the hash of its definition without its name; "" if it was not stored
	Broken         string // what is wrong with a reference that cannot be used; otherwise ""
	Raw            string // a broken reference as its file has it, which is how it is stored again
}

// String returns the name, or the hash if there is no name.
func (r Ref) String() string { return cmp.Or(r.NamespacedName, r.RefID, r.Raw) }

// A Pattern is a name or a glob, or stands for all tools of a server.
type Pattern struct {
	Text   string
	Glob   interface{ Match(name string) bool }
	Server string // its name in policies; "" for a name or a glob
}

// OfServer returns the pattern for all tools of a server.
func OfServer(name string) Pattern {
	return Pattern{Text: "every tool of server " + name, Server: name}
}

// A Shelf stores saved toolsets, by [Set.Key]. Both methods may wait for the disk.
type Shelf interface {
	// Load returns all toolsets. The caller may change the map.
	Load() (map[string]Set, error)
	// Update calls change with all toolsets and stores the result. If others have stored something
	// meanwhile, it calls change again. It returns an error of change unchanged, and then stores
	// nothing. The error is ErrUnavailable if nothing can be stored now.
	Update(ctx context.Context, change func(map[string]Set) error) error
}

// ErrUnavailable says that a Shelf of a cluster stores nothing now. Clients may see its text.
var ErrUnavailable = errors.New("saved toolsets cannot be changed now, because toolman cannot reach what its replicas share; they can be used as they are, try again later")

// Limits of a toolset.
const (
	MaxTools       = 1000
	MaxDescription = 1000 // bytes
	MaxVersion     = 64   // bytes
)

// Limits for the saved toolsets of an owner. For the operator only that of the file applies.
const (
	MaxOwned     = 50   // toolsets
	MaxOwnedRefs = 2000 // tools in all of them
)

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`) })

// NameRule describes names of toolsets.
const NameRule = "up to 64 letters, digits, _, . and -, a letter or digit first"

// ValidName reports whether a toolset can have this name.
func ValidName(name string) bool { return nameForm().MatchString(name) }

// OwnerRule describes owners of toolsets.
const OwnerRule = "1 to 2048 visible ASCII characters but for /"

// ValidOwner reports whether a toolset can have this owner.
func ValidOwner(owner string) bool {
	other := strings.IndexFunc(owner, func(c rune) bool { return c <= ' ' || c > '~' || c == '/' })
	return other < 0 && 0 < len(owner) && len(owner) <= 2048
}

var refForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// ValidRefID reports whether id has the form of Ref.RefID: "sha256:" and 64 hexadecimal digits.
func ValidRefID(id string) bool { return refForm().MatchString(id) }

// WithAlgorithm adds "sha256:" to a hash that is written without it. It returns other texts as they
// are.
func WithAlgorithm(id string) string {
	if full := "sha256:" + id; ValidRefID(full) {
		return full
	}
	return id
}

// maxProblems is the number of tools that an error of Build names.
const maxProblems = 10

// Build returns the set with existing tools. Its references have both identifiers. Without a
// version it has the first one. similar returns suggestions for an unknown name; it may be nil. The
// error names the references that do not lead to one tool.
func (x *Index) Build(set Set, refs []Ref, at time.Time, similar func(name string) []string) (Set, error) {
	set.Version, set.CreatedAt = cmp.Or(set.Version, FirstVersion), at.UTC().Truncate(time.Second)
	if err := set.check(len(refs)); err != nil {
		return set, err
	}
	var problems []string
	had := map[string]bool{}
	for _, ref := range refs {
		full, err := x.complete(ref, similar)
		if err != nil {
			problems = append(problems, err.Error())
		} else if !had[full.NamespacedName] {
			had[full.NamespacedName] = true
			set.Tools = append(set.Tools, full)
		}
	}
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	if len(problems) > 0 {
		return set, fmt.Errorf("nothing was saved: %s", strings.Join(problems, "; "))
	}
	return set, nil
}

func (s *Set) check(tools int) error {
	switch {
	case !ValidName(s.Name):
		return fmt.Errorf("the name of a toolset is %s", NameRule)
	case len(s.Description) > MaxDescription:
		return fmt.Errorf("the description is longer than %d bytes", MaxDescription)
	case len(s.Version) > MaxVersion:
		return fmt.Errorf("the version is longer than %d bytes", MaxVersion)
	case tools == 0:
		return errors.New("a toolset needs at least one tool")
	case tools > MaxTools:
		return fmt.Errorf("a toolset has at most %d tools, not %d", MaxTools, tools)
	}
	return nil
}

// complete adds the missing identifier to a reference.
func (x *Index) complete(ref Ref, similar func(string) []string) (Ref, error) {
	if ref == (Ref{}) {
		return ref, errors.New("a tool needs namespacedName or refId")
	}
	r := x.Resolve(ref, false)
	if len(r.Tools) != 1 {
		text := r.Problem
		if r.Outcome == Missing && similar != nil {
			if near := similar(ref.NamespacedName); len(near) > 0 {
				text += " (did you mean " + strings.Join(near, " or ") + "?)"
			}
		}
		return ref, errors.New(text)
	}
	t := x.tools[x.byName[r.Tools[0]]]
	if t.RefID == "" {
		return ref, fmt.Errorf("%s has no one definition that could be told from another; its server has to mend it", t.Name)
	}
	return Ref{NamespacedName: t.Name, RefID: t.RefID, NamelessRefID: t.NamelessRefID}, nil
}
