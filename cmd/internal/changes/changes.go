package changes

import (
	"context"
	"errors"
	"path/filepath"

	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/filechange"
)

// A Change is a new text for a file.
type Change struct {
	filechange.Change
	What   string   // what the file is, for messages: "Claude Code"
	Owners []string // for whom the file is changed: IDs of clients, or none
	Edits  []Edit   // what differs, for files that are changed again by others
}

// An Edit is an entry that a change has added, changed or taken out.
type Edit struct {
	Spot edit.Spot `json:"spot"`
	Name string    `json:"name"`
	Set  bool      `json:"set"` // it was added or changed, not taken out
	Mark edit.Mark `json:"mark"`
}

// Apply makes all changes, or none if one is not possible. An error names the file; it is
// [filechange.ErrChanged] if the file has changed since the change was planned.
func (s *Store) Apply(ctx context.Context, all []Change) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// The records come first: without them, nothing could be undone, not even after a crash.
	var records []*Record
	var todo []filechange.Change
	for _, c := range all {
		r, err := s.newRecord(c)
		if err == nil {
			err = s.save(r)
		}
		if err == nil {
			records = append(records, r)
			err = s.noteDirs(filechange.MissingFolders(filepath.Dir(r.Target)))
		}
		if err != nil {
			return errors.Join(err, s.restore(records))
		}
		todo = append(todo, c.Change)
	}
	if err := filechange.Apply(todo...); err != nil {
		return errors.Join(err, s.restore(records))
	}
	return nil
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
