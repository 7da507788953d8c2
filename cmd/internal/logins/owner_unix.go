//go:build unix

package logins

import (
	"fmt"
	"os"
	"syscall"
)

// checkOwner returns an error for a file of another user.
func checkOwner(info os.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("belongs to user %d, and toolman runs as user %d; run it as that user, or remove the file and log in again", stat.Uid, os.Geteuid())
	}
	return nil
}

// repair takes the permissions of others from a file. It returns a warning, or "".
func repair(f *os.File, info os.FileInfo) (warning string, err error) {
	was := info.Mode().Perm()
	if was&0o077 == 0 {
		return "", nil
	}
	if err := f.Chmod(0o600); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s had the mode %v, so that others may have read the tokens in it; it has 0600 now; log in again if that matters", f.Name(), was), nil
}

// checkFolder takes the permissions of others from a folder of this user. One of root is as the
// operator of a machine or container has made it.
func checkFolder(path string, info os.FileInfo) (warning string, err error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	was := info.Mode().Perm()
	switch {
	case !ok:
	case int(stat.Uid) != os.Geteuid() && stat.Uid != 0:
		return "", fmt.Errorf("the folder of logins %s belongs to user %d, and toolman runs as user %d; set TOOLMAN_LOGINS to a folder of your own", path, stat.Uid, os.Geteuid())
	case was&0o077 == 0:
	case int(stat.Uid) != os.Geteuid():
		if was&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
			return fmt.Sprintf("others may replace the logins in %s (mode %v)", path, was), nil
		}
	default:
		if err := os.Chmod(path, 0o700); err != nil {
			return "", err
		}
		return fmt.Sprintf("the folder of logins %s had the mode %v; it has 0700 now", path, was), nil
	}
	return "", nil
}
