//go:build unix

package catalogs

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// own returns an error if another user than the one that runs toolman owns a file or folder, or
// others may write it.
func own(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return fmt.Errorf("the owner of %s is not known", path)
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, while toolman runs as user %d; remove it, or let XDG_CACHE_HOME name another folder", path, stat.Uid, os.Geteuid())
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write %s (mode %v); chmod go-w it", path, info.Mode().Perm())
	}
	return nil
}
