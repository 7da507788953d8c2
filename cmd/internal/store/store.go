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

// Read returns the content of the file, at most limit bytes; a longer file is an error. For a file
// that does not exist the error wraps fs.ErrNotExist.
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

// Update replaces the file by what change makes of it; old is nil if the file does not exist. If
// change fails, or ctx ends before the file is locked, the file stays as it was. Update replaces
// the target of a symbolic link and keeps the link.
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

// replace replaces a file and keeps its permissions. The caller holds the lock, so a temporary file
// that exists already is of a writer that was killed.
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
