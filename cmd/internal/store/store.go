package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"toolman/cmd/internal/config/source"
	"toolman/mcpwire/system"

	"github.com/gofrs/flock"
)

// update replaces the file by what change makes of it; old is nil if the file does not exist. If
// change fails, or ctx ends before the file is locked, the file stays as it was. Update replaces
// the target of a symbolic link and keeps the link.
func update(ctx context.Context, path string, limit int64, change func(old []byte) ([]byte, error)) error {
	if aim, err := filepath.EvalSymlinks(path); err == nil {
		path = aim
	}
	unlock, err := Lock(ctx, path+".lock", 0o644)
	if err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	defer unlock()
	old, err := source.Read(path, limit)
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
	if err := system.Rename(temp, path); err != nil {
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

// retry is the time between attempts to get a lock that another process holds.
const retry = 10 * time.Millisecond

// Lock creates a file and locks it; unlock removes the file. The system releases the lock of a
// process that ends. Who may read the file may lock it.
func Lock(ctx context.Context, path string, mode fs.FileMode) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(mode))
	for ctx.Err() == nil {
		locked, err := try(l)
		switch {
		case err != nil:
			return nil, err
		case locked && current(l, path):
			return func() { release(l, path) }, nil
		case locked:
			l.Unlock()
			continue
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
		}
	}
	return nil, ctx.Err()
}

// try locks a file unless another process holds it.
func try(l *flock.Flock) (locked bool, err error) {
	err = system.Retry(func() (err error) { // Windows opens no file that is just being removed
		if locked, err = l.TryLock(); system.Held(err) {
			err = nil
		}
		return err
	})
	return locked, err
}

// release unlocks a file and removes it. Where the system allows that, it removes the file while it
// is locked, so that no process locks a file that is gone. Windows removes no file that is open:
// neither this one before it is unlocked, nor one that another process is about to lock.
func release(l *flock.Flock, path string) {
	removed := os.Remove(path)
	l.Unlock()
	if removed != nil && runtime.GOOS == "windows" {
		os.Remove(path)
	}
}

// current reports whether the locked file is still the one at path.
func current(l *flock.Flock, path string) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(held, now)
}

// syncFolder makes a rename durable. Windows has no such call.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
