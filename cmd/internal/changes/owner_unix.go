//go:build unix

package changes

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// foreign returns who owns a file, if that is another user.
func foreign(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return ""
	}
	return fmt.Sprintf("user %d, while toolman runs as user %d", stat.Uid, os.Geteuid())
}
