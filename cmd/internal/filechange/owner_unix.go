//go:build unix

package filechange

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkOwner returns an error for a file of another user: the rename would make it this user's.
func checkOwner(info os.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("belongs to user %d, and toolman runs as user %d", stat.Uid, os.Geteuid())
	}
	return nil
}

// rootIn reports whether root would leave a file of its own in a folder of another user.
func rootIn(info os.FileInfo) bool { return os.Geteuid() == 0 && checkOwner(info) != nil }

// writable returns an error if no file can be made in a folder.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
