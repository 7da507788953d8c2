package logins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/store"
	"toolman/mcpwire/system"
)

const (
	maxFile  = 64 << 10
	reserved = 16 << 10 // bytes of a new file that are on the disk before a change begins
)

// A File has a login, or none. Its methods may be called from any goroutine.
type File struct {
	key    Key // the zero Key: that of the record
	folder Folder
	path   string

	mu      sync.Mutex
	seen    os.FileInfo // guarded by mu: when it was last loaded; nil: there was no file
	loaded  bool        // guarded by mu: once
	warning string      // guarded by mu
}

// Path returns where the file is.
func (f *File) Path() string { return f.path }

// Warning returns what was wrong with the file's permissions and has been repaired, or "".
func (f *File) Warning() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.warning
}

// Load returns what the file has, or nil if there is no file. An error says what to do.
func (f *File) Load() (*Record, error) {
	r, _, err := f.read()
	return r, err
}

// Changed reports whether the file is another one than when it was last loaded.
func (f *File) Changed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Lstat(f.path)
	switch {
	case !f.loaded:
		return true
	case err != nil || f.seen == nil:
		return (err == nil) != (f.seen != nil)
	}
	return !os.SameFile(info, f.seen) || info.Size() != f.seen.Size() || !info.ModTime().Equal(f.seen.ModTime())
}

// read returns what the file has, and its text.
func (f *File) read() (*Record, []byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, text, err := f.readLocked(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.loaded = false
		return nil, nil, fmt.Errorf("the login in %s %w", f.path, err)
	}
	f.loaded = true
	return r, text, nil
}

// readLocked reads a file. If there is none, it returns nil and an error of fs.ErrNotExist.
func (f *File) readLocked(path string) (*Record, []byte, error) {
	f.seen = nil
	link, err := os.Lstat(path)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	if !link.Mode().IsRegular() || link.Size() > maxFile {
		return nil, nil, fmt.Errorf("is not a regular file of at most %d bytes; remove it and log in again", maxFile)
	}
	if err := checkOwner(link); err != nil {
		return nil, nil, err
	}
	var file *os.File
	err = system.Retry(func() (err error) { file, err = os.Open(path); return err })
	if err != nil {
		return nil, nil, unreadable(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, unreadable(err)
	}
	warning, err := repair(file, info)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	if warning != "" {
		f.warning = warning
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil || len(text) > maxFile {
		return nil, nil, errDamaged
	}
	r, err := parse(text)
	if err == nil && f.key != (Key{}) && r.Key != f.key {
		err = errForeign
	}
	if err != nil {
		return nil, nil, err
	}
	f.seen = info
	return r, text, nil
}

// unreadable returns an error of the system without the path.
func unreadable(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("cannot be read: %s", source.Reason(err))
}

// Update changes the login. No other process changes it meanwhile, however long change takes. r is
// what the file has, or a Record with the Key alone. If change fails, or changes nothing, the file
// stays as it is. If the new login cannot be saved, the error says so.
func (f *File) Update(ctx context.Context, change func(r *Record) error) error {
	warning, err := f.folder.ready()
	if err != nil {
		return err
	}
	unlock, err := store.Lock(ctx, f.path+".lock", 0o600)
	if err != nil {
		return fmt.Errorf("locking the login in %s: %w", f.path, err)
	}
	defer unlock()
	f.mu.Lock()
	if warning != "" {
		f.warning = warning
	}
	recoverErr := f.recoverLocked()
	f.mu.Unlock()
	r, old, err := f.read()
	if err = errors.Join(recoverErr, err); err != nil {
		return err
	}
	if r == nil {
		r = &Record{Key: f.key}
		if old, err = r.render(); err != nil {
			return err
		}
	}
	temp, err := reserve(f.path + temporary)
	if err != nil {
		return fmt.Errorf("no login can be saved in %s, and nothing is changed: %w", f.folder.path, err)
	}
	defer func() {
		if temp != nil {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	if err := change(r); err != nil {
		return err
	}
	r.Key = f.keyOf(r)
	text, err := r.render()
	switch {
	case err != nil:
		return err
	case bytes.Equal(text, old):
		return nil
	case len(text) > maxFile:
		return fmt.Errorf("the login cannot be saved: it has %d bytes, more than %d", len(text), maxFile)
	}
	if err := fill(temp, text); err != nil {
		return fmt.Errorf("saving the login in %s: %w", f.path, err)
	}
	temp, path := nil, temp.Name()
	if err := system.Rename(path, f.path); err != nil {
		return fmt.Errorf("saving the login in %s: %w", f.path, err)
	}
	f.read()
	return syncFolder(f.folder.path)
}

// keyOf returns the key of the file, or of a record if that of the file is not known.
func (f *File) keyOf(r *Record) Key {
	if f.key == (Key{}) {
		return r.Key
	}
	return f.key
}

// temporary is the end of the name of a file that is being written.
const temporary = ".tmp"

// recoverLocked completes the change of a process that was killed when it had written the new text.
func (f *File) recoverLocked() error {
	temp := f.path + temporary
	r, _, err := f.readLocked(temp)
	if err != nil {
		return nil // it is not there, or not complete
	}
	old, _, err := f.readLocked(f.path)
	if err == nil && !r.Renewed.After(old.Renewed) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := system.Rename(temp, f.path); err != nil {
		return fmt.Errorf("restoring the login in %s: %w", f.path, err)
	}
	return nil
}

// reserve makes a file and takes place for it on the disk.
func reserve(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(bytes.Repeat([]byte{' '}, reserved)); err != nil {
		f.Close()
		os.Remove(path)
		return nil, err
	}
	return f, nil
}

// fill writes the text of a file that has been reserved, and closes it.
func fill(f *os.File, text []byte) error {
	_, err := f.WriteAt(text, 0)
	return errors.Join(err, f.Truncate(int64(len(text))), f.Sync(), f.Close())
}

// Remove removes the file, whatever is in it.
func (f *File) Remove(ctx context.Context) error {
	return f.remove(ctx, func() bool { return true })
}

// Forget removes the file if it has no tokens, but only what the server asked for. It reports whether
// there are tokens.
func (f *File) Forget(ctx context.Context) (kept bool, err error) {
	err = f.remove(ctx, func() bool {
		r, err := f.Load()
		kept = err != nil || r.HasTokens()
		return !kept
	})
	return kept, err
}

// remove removes the file if wanted says so while nobody else changes it.
func (f *File) remove(ctx context.Context, wanted func() bool) error {
	if _, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := store.Lock(ctx, f.path+".lock", 0o600)
	if err != nil {
		return fmt.Errorf("locking the login in %s: %w", f.path, err)
	}
	defer unlock()
	if !wanted() {
		return nil
	}
	for _, path := range []string{f.path + temporary, f.path} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return syncFolder(f.folder.path)
}

// syncFolder makes a rename durable. Windows has no such call.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
