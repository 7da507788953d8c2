package filechange

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/textdiff"
	"toolman/mcpwire/system"
)

// A Change is a new text for a file.
type Change struct {
	Path          string
	Before, After []byte      // nil: there is no file
	Mode          fs.FileMode // of a new file; 0 is 0600
}

// Read returns the text of a file, or nil if there is none. One that is not a regular file, or has
// more than limit bytes, is an error.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	}
	var text []byte
	if err == nil {
		text, err = source.Read(path, limit)
	}
	if err != nil {
		return nil, &source.Problem{File: path, Msg: "cannot be read: " + source.Reason(err)}
	}
	return text, nil
}

// ErrChanged says that a file is not what it was when the change was planned.
var ErrChanged = errors.New("was changed by another program")

// IsNone reports whether the change changes nothing.
func (c Change) IsNone() bool {
	return bytes.Equal(c.Before, c.After) && (c.Before == nil) == (c.After == nil)
}

// Target returns the path with links followed, also those to folders above a file that does not
// exist.
func (c Change) Target() (string, error) {
	path, err := filepath.EvalSymlinks(c.Path)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, c.failed(err)
	}
	if _, link := os.Lstat(c.Path); link == nil { // to nowhere
		return "", cli.Failed(fmt.Errorf("%s is a link to a file that does not exist", c.Path), "remove the link, or make the file")
	}
	rest := filepath.Base(c.Path)
	for dir := filepath.Dir(c.Path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest), nil
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
	return c.Path, nil
}

// failed names the file in an error of the system.
func (c Change) failed(err error) error {
	if err == nil {
		return nil
	}
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		err = in.Err
	}
	if in, ok := errors.AsType[*os.LinkError](err); ok {
		err = in.Err
	}
	return cli.Failed(fmt.Errorf("%s cannot be changed: %w; nothing is changed", c.Path, err), "see who may write the file and its folder")
}

// Check returns an error if the change cannot be made.
func (c Change) Check() error {
	path, err := c.Target()
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Before == nil:
		return c.checkFolder(filepath.Dir(path))
	case errors.Is(err, fs.ErrNotExist):
		return cli.Failed(fmt.Errorf("%s is gone: it %w; nothing is changed", c.Path, ErrChanged), "run the command again")
	case err != nil:
		return c.failed(err)
	case c.Before == nil:
		return cli.Failed(fmt.Errorf("%s is there now: it %w; nothing is changed", c.Path, ErrChanged), "run the command again")
	case !info.Mode().IsRegular():
		return cli.Failed(fmt.Errorf("%s is not a regular file; nothing is changed", c.Path), "edit it by hand")
	case info.Mode().Perm()&0o200 == 0:
		return cli.Failed(fmt.Errorf("%s is read-only; nothing is changed", c.Path), "make it writable, or edit it by hand")
	}
	if err := checkOwner(info); err != nil {
		return cli.Failed(fmt.Errorf("%s %w; nothing is changed", c.Path, err), "run the command as its owner")
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return c.failed(err)
	}
	if !bytes.Equal(now, c.Before) {
		return cli.Failed(fmt.Errorf("%s %w; nothing is changed", c.Path, ErrChanged), "run the command again")
	}
	return c.checkFolder(filepath.Dir(path))
}

// checkFolder checks that a file can be made in a folder, or in the one above it that exists.
func (c Change) checkFolder(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
			dir = filepath.Dir(dir)
			continue
		case err == nil && !info.IsDir():
			err = fmt.Errorf("%s is no folder", dir)
		case err == nil && c.Before == nil && rootIn(info):
			err = fmt.Errorf("%s %w", dir, checkOwner(info))
		case err == nil:
			err = writable(dir)
		}
		return c.failed(err)
	}
}

// Apply makes all changes, or none.
func Apply(changes ...Change) error {
	changes = slices.DeleteFunc(slices.Clone(changes), Change.IsNone)
	for _, c := range changes {
		if err := c.Check(); err != nil {
			return err
		}
	}
	var done applied
	for _, c := range changes {
		err := done.makeFolders(c)
		if err == nil {
			err = c.write()
		}
		if err != nil {
			return errors.Join(c.failed(err), done.undo())
		}
		done.changes = append(done.changes, c)
	}
	return nil
}

// applied is what Apply has done so far.
type applied struct {
	changes []Change
	folders []string // the outer ones first
}

// makeFolders makes the folders of a new file.
func (a *applied) makeFolders(c Change) error {
	mode := fs.FileMode(0o700)
	if c.Mode&0o044 != 0 { // others may read the file
		mode = 0o755
	}
	for _, dir := range MissingFolders(filepath.Dir(c.Path)) {
		if err := os.Mkdir(dir, mode); err == nil {
			a.folders = append(a.folders, dir)
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// MissingFolders returns which of a folder and those above it do not exist, the outer ones first.
func MissingFolders(dir string) (missing []string) {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	return missing
}

// write replaces the file.
func (c Change) write() error {
	path, err := c.Target()
	if err != nil {
		return err
	}
	if c.After == nil {
		return system.Retry(func() error { return os.Remove(path) })
	}
	mode := c.Mode
	if mode == 0 {
		mode = 0o600
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	next, err := os.CreateTemp(filepath.Dir(path), unfinished(path)+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(c.After)
	if err = errors.Join(err, next.Chmod(mode), next.Sync(), next.Close()); err == nil {
		err = system.Rename(next.Name(), path)
	}
	if err != nil {
		os.Remove(next.Name())
	}
	return err
}

// unfinished is how the names of files begin that are to replace the one at path.
func unfinished(path string) string { return ".toolman-" + filepath.Base(path) + "-" }

// Clean removes what processes that were killed have left beside the file at path.
func Clean(path string) {
	all, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // there is no folder
	}
	for _, f := range all {
		if strings.HasPrefix(f.Name(), unfinished(path)) {
			os.Remove(filepath.Join(filepath.Dir(path), f.Name()))
		}
	}
}

// undo takes the changes back, and removes the folders that were made for them and are empty. It
// leaves a file alone that was changed since.
func (a *applied) undo() error {
	var all []error
	for _, c := range slices.Backward(a.changes) {
		back := Change{Path: c.Path, Before: c.After, After: c.Before}
		err := back.Check()
		if err == nil {
			err = back.write()
		}
		if err != nil {
			all = append(all, fmt.Errorf("undo: %w", err))
		}
	}
	for _, dir := range slices.Backward(a.folders) {
		os.Remove(dir) // if it is empty
	}
	return errors.Join(all...)
}

// Diff returns the change as a unified diff.
func (c Change) Diff() string {
	old, now := c.Path, c.Path
	if c.Before == nil {
		old = os.DevNull
	}
	if c.After == nil {
		now = os.DevNull
	}
	return textdiff.Unified(old, now, c.Before, c.After)
}
