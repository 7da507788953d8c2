package spawn

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// errNotFound is what a name that is in no directory of PATH gets.
var errNotFound = fmt.Errorf("not found in its PATH; install it, write its full path, or set PATH in its env: %w", fs.ErrNotExist)

// lookPath finds the file that name means to a child with this environment in this directory.
// The result is relative to dir if name or the entry of PATH is. exec.LookPath would search our own PATH.
func lookPath(name, dir string, env []string) (string, error) {
	if hasSeparator(name) {
		return firstExecutable(name, dir, env)
	}
	found := errNotFound
	for _, entry := range filepath.SplitList(getenv(env, "PATH")) {
		if entry == "" {
			entry = "."
		}
		// Not Join: it would turn ./name into a bare name.
		path, err := firstExecutable(entry+string(filepath.Separator)+name, dir, env)
		if err == nil {
			return path, nil
		}
		if _, unseen := errors.AsType[*fs.PathError](err); !unseen && !errors.Is(err, fs.ErrNotExist) {
			found = err // it is there but cannot be run: worth saying, if nothing better comes along the PATH
		}
	}
	return "", found
}

// firstExecutable tries the files that path may stand for: itself, and on Windows path.exe and its like.
func firstExecutable(path, dir string, env []string) (string, error) {
	found := fmt.Errorf("there is no such file; correct the path or install it: %w", fs.ErrNotExist)
	for _, candidate := range candidates(path, env) {
		onDisk := candidate
		if dir != "" && !filepath.IsAbs(candidate) {
			onDisk = filepath.Join(dir, candidate)
		}
		err := checkExecutable(onDisk)
		if err == nil {
			return candidate, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			found = err
		}
	}
	return "", found
}
