package changes

import (
	"crypto/sha256"
	"encoding/hex"
	"os"

	"toolman/cmd/internal/filechange"
)

// MaxBytes is how long a file may be.
const MaxBytes = 32 << 20

// open returns the path of a file without symbolic links, and its text, which is nil if there is no
// file.
func open(path string) (target string, text []byte, err error) {
	if target, err = (filechange.Change{Path: path}).Target(); err == nil {
		text, err = filechange.Read(target, MaxBytes)
	}
	return target, text, err
}

// removeDirs removes directories that are empty, the innermost first.
func removeDirs(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		if info, err := os.Lstat(dirs[i]); err == nil && info.IsDir() {
			os.Remove(dirs[i]) // it fails if others have put something there
		}
	}
}

// sum returns what a text is recognized by.
func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}
