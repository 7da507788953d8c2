package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns what the file holds, at most limit bytes; a longer file is an error. A
// file that does not exist is one of fs.ErrNotExist.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return text, nil
}

// Update replaces the file with what change makes of it: nil is a file that does not
// exist. An error of change, or the end of ctx before the lock is had, leaves the file
// as it was. A symbolic link stays, and what it names is replaced.
func Update(ctx context.Context, path string, limit int64, change func(old []byte) ([]byte, error)) error {
	if aim, err := filepath.EvalSymlinks(path); err == nil {
		path = aim
	}
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	defer unlock()
	old, err := Read(path, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := change(old)
	if err != nil {
		return err
	}
	if int64(len(text)) > limit {
		return fmt.Errorf("%s would be larger than %d bytes", path, limit)
	}
	if err := replace(path, text); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// replace puts a new file in the place of another, with its permissions. The lock is held,
// so a temporary file that is there already is of a writer that is gone.
func replace(path string, text []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	temp := path + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := write(temp, text, mode); err != nil {
		os.Remove(temp)
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func write(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}
