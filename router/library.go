package router

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"

	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
	"toolman/router/view"
)

// A library has all toolsets that a client may know of at one moment, by name: those of
// tools.toml, and then saved ones. A name of tools.toml is no saved one's.
type library struct {
	sets []*toolset.Set
	err  error // why the saved ones are not known
}

// library reads the toolsets: of the saved ones those of the owner, and those of the operator that
// have other names. It may wait for the disk.
func (r *Router) library(owner string) *library {
	l := &library{}
	sets := r.current().Toolsets
	for i := range sets {
		l.sets = append(l.sets, &sets[i])
	}
	if r.Shelf == nil {
		return l
	}
	saved, err := r.Shelf.Load()
	l.err = err
	for _, of := range slices.Compact([]string{owner, ""}) {
		for _, key := range slices.Sorted(maps.Keys(saved)) {
			if set := saved[key]; set.Owner == of && l.find(set.Name) == nil {
				l.sets = append(l.sets, &set)
			}
		}
	}
	return l
}

// errShelf is what clients hear of a file of toolsets that cannot be used: what is wrong with it may
// name what others have saved.
var errShelf = errors.New("the file of saved toolsets cannot be used; toolman's log says why")

// shelfError is an error of the shelf as the client may read it.
func (r *Router) shelfError(who *Client, err error) error {
	if err == nil || who.Sole {
		return err
	}
	r.log.Warn("saved toolsets cannot be used", zap.NamedError("err", err))
	return errShelf
}

// find returns the toolset of that name, or nil.
func (l *library) find(name string) *toolset.Set {
	for _, set := range l.sets {
		if set.Name == name {
			return set
		}
	}
	return nil
}

// get returns the toolset of that name. An error says which there are.
func (l *library) get(name string) (*toolset.Set, error) {
	if set := l.find(name); set != nil {
		return set, nil
	}
	text := fmt.Sprintf("unknown toolset %s; ", sanitize.Short(name))
	switch {
	case l.err != nil:
		text += "saved ones are not known: " + l.err.Error()
	case len(l.sets) == 0:
		text += "there are none"
	default:
		text += "there are " + sanitize.Cut(strings.Join(l.names(), ", "), 400)
	}
	return nil, fmt.Errorf("%s", text)
}

func (l *library) names() []string {
	var names []string
	for _, set := range l.sets {
		names = append(names, set.Name)
	}
	return names
}

// saved are the toolsets of the shelf.
func (l *library) saved() []*toolset.Set {
	return slices.DeleteFunc(slices.Clone(l.sets), func(s *toolset.Set) bool { return !s.Saved() })
}

// setWarnings says what of some toolsets is left out, or should be.
func setWarnings(v *view.View, sets []*toolset.Set) []string {
	var all []string
	for _, set := range sets {
		all = append(all, v.Catalog.Expand(set).Warnings()...)
	}
	return cleaned(all)
}

// mayUseLocked reports whether the client's policy leaves anything of an upstream open.
func (s *Session) mayUseLocked(u *Upstream) bool { return s.policy.Opens(u.source.PolicyName) }

// only returns the toolsets of tools.toml with these names, in the order of that file,
// each once. Saved ones are not among them: clients can change those.
func (r *Router) only(names []string) []*toolset.Set {
	var sets []*toolset.Set
	all := r.current().Toolsets
	for i := range all {
		if slices.Contains(names, all[i].Name) {
			sets = append(sets, &all[i])
		}
	}
	return sets
}

// library returns the toolsets that the client may know of. It may wait for the disk,
// unless the client is limited to some.
func (who *Client) library(r *Router) *library {
	if who.Only != nil {
		return &library{sets: r.only(who.Only)}
	}
	l := r.library(who.Principal.Owner())
	l.err = r.shelfError(who, l.err)
	return l
}
