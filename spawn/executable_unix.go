//go:build unix

package spawn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func hasSeparator(name string) bool { return strings.Contains(name, "/") }

func candidates(path string, _ []string) []string { return []string{path} }

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fs.ErrNotExist
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory; write the program to run: %w", path, fs.ErrPermission)
	case unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf("%s is not executable; try chmod +x: %w", path, fs.ErrPermission)
	}
	return nil
}
