package metatool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
	"toolman/router/view"
)

// A Library contains all toolsets that a client may see at one moment: first those of tools.toml,
// then the saved ones, then the default ones. Of several with one name it has the first.
type Library struct {
	Sets []*toolset.Set
	Err  error // why the saved toolsets could not be read
}

// ReadLibrary returns the fixed toolsets and those of the shelf, which may be nil. Of the saved
// toolsets it returns those of the owner, and those of the operator with other names. It may wait
// for the disk.
func ReadLibrary(fixed []toolset.Set, shelf toolset.Shelf, owner string) *Library {
	l := &Library{}
	for i := range fixed {
		if !fixed[i].Default {
			l.Sets = append(l.Sets, &fixed[i])
		}
	}
	var saved map[string]toolset.Set
	if shelf != nil {
		saved, l.Err = shelf.Load()
	}
	for _, of := range slices.Compact([]string{owner, ""}) {
		for _, key := range slices.Sorted(maps.Keys(saved)) {
			if set := saved[key]; set.Owner == of && l.Find(set.Name) == nil {
				l.Sets = append(l.Sets, &set)
			}
		}
	}
	for i := range fixed {
		if fixed[i].Default && l.Find(fixed[i].Name) == nil {
			l.Sets = append(l.Sets, &fixed[i])
		}
	}
	return l
}

// Find returns the toolset with this name, or nil.
func (l *Library) Find(name string) *toolset.Set {
	for _, set := range l.Sets {
		if set.Name == name {
			return set
		}
	}
	return nil
}

// Get returns the toolset with this name. The error lists the existing toolsets.
func (l *Library) Get(name string) (*toolset.Set, error) {
	switch set := l.Find(name); {
	case set != nil && set.Broken != "":
		return nil, fmt.Errorf("%s cannot be used: %s; the other toolsets can", set, sanitize.Line(set.Broken))
	case set != nil:
		return set, nil
	}
	text := fmt.Sprintf("unknown toolset %s; ", sanitize.Short(name))
	switch {
	case l.Err != nil:
		text += "saved ones could not be read: " + l.Err.Error()
	case len(l.Sets) == 0:
		text += "there are none"
	default:
		text += "there are " + sanitize.Cut(strings.Join(l.names(), ", "), 400)
	}
	return nil, fmt.Errorf("%s", text)
}

func (l *Library) names() []string {
	var names []string
	for _, set := range l.Sets {
		names = append(names, set.Name)
	}
	return names
}

// Saved returns the toolsets of the shelf.
func (l *Library) Saved() []*toolset.Set {
	return slices.DeleteFunc(slices.Clone(l.Sets), func(s *toolset.Set) bool { return !s.Saved() })
}

// setWarnings returns warnings about tools that some toolsets leave out or should leave out, and
// about tools of theirs that stay inactive because other toolsets in use leave them out.
func setWarnings(v *view.View, sets ...*toolset.Set) []string {
	var all []string
	for _, set := range sets {
		x := v.Catalog.Expand(set)
		all = append(all, x.Warnings()...)
		for _, e := range v.Catalog.Tools() {
			if why := v.Rejection(e); why != "" && x.Tools[e.Name] {
				all = append(all, e.Name+" stays off: "+why)
			}
		}
	}
	return sanitized(all)
}
