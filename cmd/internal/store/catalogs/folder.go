package catalogs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolman/mcpwire/system"
	"toolman/router/recall"
)

const (
	suffix   = ".catalog"
	tempMark = ".tmp-" // begins the name of a file that is being written

	maxFiles = 256
	maxTotal = 64 << 20            // bytes of all files
	maxAge   = 30 * 24 * time.Hour // since a server last offered that
	maxTemp  = time.Hour           // after which a file that is being written is of a process that was killed
)

// A Folder has the files of the cache.
type Folder struct {
	path string
	now  func() time.Time
}

// Open returns the folder of this user's cache. It may not exist.
func Open() (*Folder, error) {
	dir, err := cacheDir()
	if err != nil {
		return nil, err
	}
	return At(filepath.Join(dir, "toolman", "catalog")), nil
}

// At returns the folder at path.
func At(path string) *Folder { return &Folder{path: path, now: time.Now} }

// Path returns the folder's path.
func (f *Folder) Path() string { return f.path }

// cacheDir returns the directory of what programs can make again.
func cacheDir() (string, error) {
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) { // others are to be ignored
		return dir, nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return os.UserCacheDir()
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cache"), err
}

// An Entry is one file of the cache.
type Entry struct {
	recall.Header
	Size    int64
	Checked time.Time // when a server last offered that

	name string
}

// Entries returns the usable files, sorted by server, the newest of each first. There are none if
// the folder does not exist.
func (f *Folder) Entries() ([]*Entry, error) {
	files, err := f.files("")
	if err != nil {
		return nil, err
	}
	var all []*Entry
	for _, file := range files {
		if h, err := f.header(file.name); err == nil {
			all = append(all, &Entry{Header: h, Size: file.size, Checked: file.time, name: file.name})
		}
	}
	slices.SortStableFunc(all, func(a, b *Entry) int { return strings.Compare(a.Server, b.Server) })
	return all, nil
}

// Clear removes the files of the servers with these names; without names, all files. It returns how
// many it has removed.
func (f *Folder) Clear(servers ...string) (removed int, err error) {
	files, err := f.files("")
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, file := range files {
		if len(servers) > 0 {
			if h, err := f.header(file.name); err != nil || !slices.Contains(servers, h.Server) {
				continue
			}
		}
		err := system.Retry(func() error { return os.Remove(filepath.Join(f.path, file.name)) })
		if err == nil {
			removed++
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return removed, errors.Join(errs...)
}

// Remove removes all files and the folder, if there is one, and the directories above it that were
// made for it and are empty now. Files of others stay.
func (f *Folder) Remove() error {
	if _, err := f.Clear(); err != nil {
		return err
	}
	if temps, err := filepath.Glob(filepath.Join(f.path, tempMark+"*")); err == nil {
		for _, path := range temps {
			os.Remove(path)
		}
	}
	dirs := []string{f.path, filepath.Dir(f.path)}
	// A system has a directory for caches; ~/.cache may be toolman's work.
	if home, err := os.UserHomeDir(); err == nil && filepath.Dir(dirs[1]) == filepath.Join(home, ".cache") {
		dirs = append(dirs, filepath.Dir(dirs[1]))
	}
	for _, dir := range dirs {
		if os.Remove(dir) != nil { // it is not empty
			break
		}
	}
	return nil
}

// Exists reports whether the folder exists.
func (f *Folder) Exists() bool {
	info, err := os.Lstat(f.path)
	return err == nil && info.IsDir()
}

// A file is a file of the folder that has not been opened.
type file struct {
	name string
	size int64
	time time.Time
}

// files returns the files of the cache whose names begin with prefix, the newest first.
func (f *Folder) files(prefix string) ([]*file, error) {
	if err := f.trusted(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	all, err := os.ReadDir(f.path)
	if err != nil {
		return nil, err
	}
	var files []*file
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, &file{e.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortStableFunc(files, func(a, b *file) int { return b.time.Compare(a.time) })
	return files, nil
}

// trusted returns an error if the folder is none, or if another user could have changed it.
func (f *Folder) trusted() error {
	info, err := os.Lstat(f.path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder; remove it", f.path)
	}
	return own(f.path, info)
}

// open opens a file, unless it is a link, too large, or another user could have written it.
func (f *Folder) open(name string) (*os.File, fs.FileInfo, error) {
	path := filepath.Join(f.path, name)
	seen, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no regular file", path)
	}
	var opened *os.File
	err = system.Retry(func() (err error) {
		opened, err = os.Open(path)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	info, err := opened.Stat() // perhaps of the file that has just taken the place of the one seen
	if err == nil {
		err = own(path, info)
	}
	if err == nil && info.Size() > recall.MaxBytes {
		err = fmt.Errorf("%s has %d bytes, and %d is the limit", path, info.Size(), recall.MaxBytes)
	}
	if err != nil {
		opened.Close()
		return nil, nil, err
	}
	return opened, info, nil
}

// prune removes files until the limits are kept, and what killed processes have left.
func (f *Folder) prune() {
	all, err := os.ReadDir(f.path)
	if err != nil {
		return
	}
	now := f.now()
	for _, e := range all {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), tempMark) && now.Sub(info.ModTime()) > maxTemp {
			os.Remove(filepath.Join(f.path, e.Name()))
		}
	}
	files, err := f.files("")
	if err != nil {
		return
	}
	total := int64(0)
	for i, file := range files {
		if total += file.size; i >= maxFiles || total > maxTotal || now.Sub(file.time) > maxAge {
			os.Remove(filepath.Join(f.path, file.name))
		}
	}
}
