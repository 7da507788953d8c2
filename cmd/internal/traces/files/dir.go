package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Auto is the name of a trace that means a file that Create makes.
const Auto = "auto"

const (
	suffix   = ".jsonl"
	nameTime = "20060102-150405.000"
	maxWhat  = 40 // bytes of what was traced that are in a name
)

// StateDir returns the directory of what toolman keeps for one user between runs. It may not exist.
func StateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // others are to be ignored
		return filepath.Join(dir, "toolman"), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir() // %LocalAppData%
		return filepath.Join(dir, "toolman"), err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no directory for what toolman keeps: %w", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "toolman"), nil
	}
	return filepath.Join(home, ".local", "state", "toolman"), nil
}

// Dir returns the directory of the traces that were given no file. It may not exist.
func Dir() (string, error) {
	dir, err := StateDir()
	return filepath.Join(dir, "traces"), err
}

// Create makes a file in Dir for the trace of a run, readable only by its owner. It counts as being
// written until it is closed or the process ends.
func Create(run, what string) (*os.File, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := time.Now().UTC().Format(nameTime) + "-" + word(run) + "-" + word(what) + suffix
	for {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", f.Name(), err)
		}
		if inPlace(f) {
			return f, nil
		}
		f.Close() // removed by Prune before it was locked
	}
}

// inPlace reports whether a file is still at its path.
func inPlace(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return true // nothing better can be made
	}
	there, err := os.Stat(f.Name())
	return !errors.Is(err, os.ErrNotExist) && (err != nil || os.SameFile(mine, there))
}

// word returns a text as a part of a file's name that needs no quotes in a shell.
func word(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, s[:min(len(s), maxWhat)])
	if s = strings.Trim(s, "-."); s == "" {
		return "toolman"
	}
	return s
}
