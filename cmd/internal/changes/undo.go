package changes

import (
	"bytes"
	"context"
	"os"
	"slices"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
)

// An Outcome is what an Undo does to a file.
type Outcome string

// The outcomes.
const (
	Restored Outcome = "restored" // it is what it was, byte for byte
	Removed  Outcome = "removed"  // it did not exist before
	Edited   Outcome = "edited"   // others have changed it since; toolman's changes are taken back
	Kept     Outcome = "kept"     // others have changed it since, and it stays as it is
	Gone     Outcome = "gone"     // others have removed it
	Shared   Outcome = "shared"   // other clients still need the change
)

// An Undone is an Undo of one file, done or planned.
type Undone struct {
	Outcome
	filechange.Change
}

// Undo undoes the changes of a file, for one of its owners or, if owner is "", for all. plan says
// to change nothing.
func (s *Store) Undo(ctx context.Context, r *Record, owner string, plan bool) (Undone, error) {
	if !plan {
		unlock, err := s.lock(ctx)
		if err != nil {
			return Undone{}, err
		}
		defer unlock()
	}
	u := Undone{Change: filechange.Change{Path: r.Path}}
	target, text, err := open(r.Path)
	if err != nil {
		return u, err
	}
	u.Before, u.After = text, text
	if owner != "" && len(r.Owners) > 1 {
		u.Outcome = Shared
		if plan {
			return u, nil
		}
		r.Owners = slices.DeleteFunc(r.Owners, func(o string) bool { return o == owner })
		return u, s.save(r)
	}
	exists := true
	switch {
	case text == nil:
		u.Outcome = Gone
	case r.wrote(text) || r.Existed && bytes.Equal(text, r.Original):
		u.Outcome, u.After, exists = Restored, r.Original, r.Existed
	case len(r.Edits) == 0:
		u.Outcome = Kept
	default:
		if u.After, exists, err = r.undone(text); err != nil {
			return u, err
		}
		u.Outcome = Edited
	}
	if !exists {
		u.Outcome, u.After = Removed, nil
	} else if u.After == nil {
		u.After = []byte{}
	}
	if plan {
		return u, nil
	}
	if text != nil {
		if err := filechange.Apply(u.Change); err != nil {
			return u, err
		}
	}
	if u.Outcome == Restored && !r.ModTime.IsZero() {
		_ = os.Chtimes(target, r.ModTime, r.ModTime) // the content is what counts
	}
	filechange.Clean(target)
	if u.Outcome == Removed || u.Outcome == Gone {
		s.leave(target)
	}
	return u, s.drop(r)
}

// undone returns a text, which others have changed, without the record's edits, and whether
// anything is left of it.
func (r *Record) undone(text []byte) (after []byte, exists bool, err error) {
	problem := func(p *source.Problem) error {
		p.File = r.Path
		return cli.Failed(p, "correct the file, and run the command again")
	}
	for _, e := range slices.Backward(r.Edits) {
		old, had, p := e.Spot.Get(r.Original, e.Name)
		if p != nil {
			return nil, false, problem(p)
		}
		_, has, p := e.Spot.Get(text, e.Name)
		if p != nil {
			return nil, false, problem(p)
		}
		switch {
		case had && has == e.Set: // what was changed, or is still gone, comes back
			text, p = e.Spot.Put(text, e.Name, old)
		case !had && has && e.Set:
			text, _, p = e.Spot.Remove(text, e.Name, e.Mark)
		}
		if p != nil {
			return nil, false, problem(p)
		}
	}
	if !r.Existed && len(r.Edits) > 0 {
		spot := r.Edits[0].Spot
		if empty, p := spot.Empty(text); p == nil && empty {
			return nil, false, nil
		}
	}
	return text, true, nil
}
