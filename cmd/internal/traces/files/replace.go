package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/system"
)

// Replace puts what write writes into a file, which is then readable only by its owner. Until all
// of it is written, the file stays as it is, or missing. A symbolic link stays, too. A device or a
// pipe is written to.
func Replace(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if there, err := os.Stat(path); err == nil && !there.Mode().IsRegular() {
		return writeTo(path, write)
	}
	next, err := os.CreateTemp(filepath.Dir(path), ".toolman-*") // mode 0600
	if err != nil {
		return cannot(path, err)
	}
	err = write(next)
	if err == nil {
		err = next.Sync()
	}
	if err = errors.Join(err, next.Close()); err == nil {
		err = system.Rename(next.Name(), path)
	}
	if err != nil {
		os.Remove(next.Name())
	}
	return err
}

func writeTo(path string, write func(io.Writer) error) error {
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return cannot(path, err)
	}
	return errors.Join(write(out), out.Close())
}

// IsSame reports whether two paths name the same file.
func IsSame(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// cannot says that a file cannot be written, without the name of the temporary one.
func cannot(path string, err error) error {
	if in, ok := errors.AsType[*os.PathError](err); ok {
		err = in.Err
	}
	return cli.Failed(fmt.Errorf("%s cannot be written: %w", path, err), "name a file in a directory that exists and may be written to")
}
