package changes

import (
	"context"
	"errors"
	"io/fs"

	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/filechange"
)

// A Change is a new text for a file.
type Change struct {
	Path    string      // as users name it; it may be a symbolic link
	What    string      // what the file is, for messages: "Claude Code"
	Owners  []string    // for whom the file is changed: IDs of clients, or none
	Before  []byte      // what it held when the change was planned
	Existed bool        // whether there was a file then
	After   []byte      // what it is to hold
	Mode    fs.FileMode // of a new file; 0 is 0600
	Edits   []Edit      // what differs, for files that are changed again by others
}

// An Edit is an entry that a change has added, changed or taken out.
type Edit struct {
	Spot edit.Spot `json:"spot"`
	Name string    `json:"name"`
	Set  bool      `json:"set"` // it was added or changed, not taken out
	Mark edit.Mark `json:"mark"`
}

// file returns the change without what is for its record.
func (c Change) file() filechange.Change {
	f := filechange.Change{Path: c.Path, Before: c.Before, After: c.After, Mode: c.Mode}
	if c.Existed && f.Before == nil {
		f.Before = []byte{}
	}
	if f.After == nil {
		f.After = []byte{}
	}
	return f
}

// Apply makes all changes, or none if one is not possible. An error names the file; it is
// [filechange.ErrChanged] if the file has changed since the change was planned.
func (s *Store) Apply(ctx context.Context, all []Change) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// The records come first: without them, nothing could be undone.
	var records []*Record
	var todo []filechange.Change
	for _, c := range all {
		if err := c.file().Check(); err != nil {
			return errors.Join(err, s.restore(records))
		}
		r, err := s.newRecord(c)
		if err == nil {
			err = s.save(r)
		}
		if err != nil {
			return errors.Join(err, s.restore(records))
		}
		records = append(records, r)
		todo = append(todo, c.file())
	}
	applied, err := filechange.Apply(todo...)
	if err != nil {
		return errors.Join(err, s.restore(records))
	}
	return s.noteDirs(applied.Dirs)
}

// restore puts back the records that others have replaced.
func (s *Store) restore(records []*Record) error {
	var all []error
	for _, r := range records {
		if r.before != nil {
			all = append(all, s.save(r.before))
		} else {
			all = append(all, s.drop(r))
		}
	}
	return errors.Join(all...)
}
