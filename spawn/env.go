package spawn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Environ joins two environments. Of entries with the same key, the last one counts and takes the
// place of the first. Entries that are not KEY=value are left out. The result shares no memory with
// the arguments.
func Environ(base, extra []string) []string {
	var env []string
	at := map[string]int{} // key: index in env
	for _, entry := range slices.Concat(base, extra) {
		key, ok := envKey(entry)
		i, seen := at[key]
		switch {
		case !ok:
		case seen:
			env[i] = entry
		default:
			at[key] = len(env)
			env = append(env, entry)
		}
	}
	return env
}

// getenv returns the value of key in env, which has no duplicates, or "".
func getenv(env []string, key string) string {
	for _, entry := range env {
		if k, ok := envKey(entry); ok && k == key {
			return entry[len(key)+1:]
		}
	}
	return ""
}

// envKey returns the key of an entry, in upper case on Windows. Windows has keys that begin with
// "=", such as "=C:".
func envKey(entry string) (string, bool) {
	if entry == "" {
		return "", false
	}
	i := strings.IndexByte(entry[1:], '=')
	if i < 0 {
		return "", false
	}
	key := entry[:i+1]
	if runtime.GOOS == "windows" {
		key = strings.ToUpper(key)
	}
	return key, true
}

var errNotFound = fmt.Errorf("not found in its PATH; install it, write its full path, or set PATH in its env: %w", fs.ErrNotExist)

// lookPath finds a program for a child with this environment and directory. (exec.LookPath would
// search our own PATH.) The result is relative to dir if name or the entry of PATH is.
func lookPath(name, dir string, env []string) (string, error) {
	if filepath.Base(name) != name {
		return firstExecutable(name, dir, env)
	}
	found := errNotFound
	for _, entry := range filepath.SplitList(getenv(env, "PATH")) {
		if entry == "" {
			entry = "."
		}
		// filepath.Join would turn ./name into name.
		path, err := firstExecutable(entry+string(filepath.Separator)+name, dir, env)
		if err == nil {
			return path, nil
		}
		if _, unseen := errors.AsType[*fs.PathError](err); !unseen && !errors.Is(err, fs.ErrNotExist) {
			found = err // it exists but cannot be run; a later entry of PATH may have one that can
		}
	}
	return "", found
}

// firstExecutable tries path itself, and on Windows path.exe and similar.
func firstExecutable(path, dir string, env []string) (string, error) {
	found := fmt.Errorf("no such file; correct the path or install the program: %w", fs.ErrNotExist)
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

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fs.ErrNotExist
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory; write the program to run: %w", path, fs.ErrPermission)
	case !mayExecute(path):
		return fmt.Errorf("%s is not executable; try chmod +x: %w", path, fs.ErrPermission)
	}
	return nil
}
