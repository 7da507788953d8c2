package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients/edit"
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

// ErrChanged says that a file is not what it was when the change was planned.
var ErrChanged = errors.New("it was changed by another program in the meantime")

// Apply makes all changes, or none if one is not possible. An error names the file.
func (s *Store) Apply(ctx context.Context, all []Change) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	var files []file
	for _, c := range all {
		f, err := open(c.Path)
		if err != nil {
			return err
		}
		if f.exists != c.Existed || !bytes.Equal(f.text, c.Before) {
			return cli.Failed(&fs.PathError{Op: "change", Path: c.Path, Err: ErrChanged}, "run the command again")
		}
		files = append(files, f)
	}
	for i, c := range all {
		if err := s.apply(c, files[i]); err != nil {
			for j := i - 1; j >= 0; j-- {
				err = errors.Join(err, s.revert(all[j], files[j]))
			}
			return err
		}
	}
	return nil
}

// apply makes one change. The record comes first: without it, nothing could be undone.
func (s *Store) apply(c Change, f file) error {
	old, err := s.record(f.target)
	if err != nil {
		return err
	}
	r := newRecord(c, f, old)
	if !f.exists {
		made, err := makeDirs(filepath.Dir(f.target))
		if err = errors.Join(err, s.noteDirs(made)); err != nil {
			return failed(c.Path, err)
		}
	}
	if err := s.save(r); err != nil {
		s.leave(f.target)
		return err
	}
	if err := f.write(c.After, c.Mode); err != nil {
		s.leave(f.target)
		return errors.Join(failed(c.Path, err), s.restore(f.target, old))
	}
	return nil
}

// revert takes back a change of an Apply that failed.
func (s *Store) revert(c Change, f file) error {
	r, err := s.record(f.target)
	if err != nil || r == nil {
		return err
	}
	if !c.Existed {
		err = os.Remove(f.target)
		s.leave(f.target)
	} else {
		err = f.write(c.Before, 0)
	}
	if err != nil {
		return failed(c.Path, err)
	}
	return s.restore(f.target, r.before)
}

func failed(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return cli.Failed(fmt.Errorf("%s: cannot be written: %w", path, err), "nothing was changed")
}
