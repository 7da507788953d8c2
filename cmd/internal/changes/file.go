package changes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
)

const maxBytes = 32 << 20 // of a file

// A file is one that may be written.
type file struct {
	path    string // as it was given
	target  string // without symbolic links
	exists  bool
	text    []byte
	mode    fs.FileMode
	modTime time.Time
}

// open reads a file that need not exist, and checks that it can be replaced.
func open(path string) (file, error) {
	f := file{path: path, target: path}
	refuse := func(reason, hint string) (file, error) {
		return file{}, cli.Failed(fmt.Errorf("%s: %s", path, reason), hint)
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		if f.target, err = filepath.EvalSymlinks(path); err != nil {
			return refuse("it is a symbolic link to a file that does not exist", "create the file, or remove the link")
		}
		info, err = os.Lstat(f.target)
	}
	if errors.Is(err, fs.ErrNotExist) {
		// What is made belongs to whoever runs toolman, and so should the directory.
		dir := filepath.Dir(path)
		for {
			info, err := os.Stat(dir)
			if err == nil && !info.IsDir() {
				return refuse(dir+" is not a directory", "")
			}
			if err == nil {
				if id := foreign(info); id != "" {
					return refuse(dir+" belongs to "+id, "run toolman as that user")
				}
				break
			}
			if parent := filepath.Dir(dir); parent != dir {
				dir = parent
				continue
			}
			break
		}
		// The directories on the way to it can be links, too.
		if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			f.target = filepath.Join(real, filepath.Base(path))
		}
		return f, nil
	}
	if err != nil {
		return refuse(source.Reason(err), "")
	}
	if real, err := filepath.EvalSymlinks(f.target); err == nil {
		f.target = real
	}
	switch id := foreign(info); {
	case !info.Mode().IsRegular():
		return refuse("it is not a regular file", "")
	case id != "":
		return refuse("it belongs to "+id, "run toolman as that user")
	case info.Mode().Perm()&0o200 == 0:
		return refuse("it is read-only", "chmod u+w it, and run the command again")
	}
	f.exists, f.mode, f.modTime = true, info.Mode().Perm(), info.ModTime()
	if f.text, err = source.Read(f.target, maxBytes); err != nil {
		return refuse(source.Reason(err), "")
	}
	return f, nil
}

// write replaces the file. Its text is in a new file before the old one is gone.
func (f file) write(text []byte, mode fs.FileMode) error {
	switch {
	case f.exists:
		mode = f.mode
	case mode == 0:
		mode = 0o600
	}
	dir := filepath.Dir(f.target)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(f.target)+".toolman-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.target)
	}
	if err != nil {
		os.Remove(temp.Name())
		return err
	}
	return syncDir(dir)
}

// syncDir makes a rename durable. Windows has no such call.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// makeDirs makes a directory and those above it, and returns those that did not exist, the outermost
// first.
func makeDirs(dir string) ([]string, error) {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		missing = append([]string{d}, missing...)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		removeDirs(missing)
		return nil, err
	}
	return missing, nil
}

// removeDirs removes directories that are empty, the innermost first.
func removeDirs(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		os.Remove(dirs[i]) // it fails if others have put something there
	}
}

// sum returns what a text is recognized by.
func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}
