package changes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
)

const maxBytes = 32 << 20 // of a file

// A file is one that may be changed.
type file struct {
	target  string // without symbolic links
	exists  bool
	text    []byte // not nil if the file exists
	modTime time.Time
}

// open reads a file that need not exist.
func open(path string) (f file, err error) {
	if f.target, err = (filechange.Change{Path: path}).Target(); err != nil {
		return f, err
	}
	info, err := os.Stat(f.target)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return f, nil // the change says what is wrong with it
	}
	if err != nil {
		return f, err
	}
	f.exists, f.modTime = true, info.ModTime()
	f.text, err = source.Read(f.target, maxBytes)
	if f.text == nil {
		f.text = []byte{}
	}
	return f, err
}

// makeDirs makes a directory for this user, and those above it, and returns those that did not
// exist, the outermost first.
func makeDirs(dir string) ([]string, error) {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		missing = append([]string{d}, missing...)
	}
	return missing, os.MkdirAll(dir, 0o700)
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
