package logins

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
)

const (
	suffix   = ".json"
	variable = "TOOLMAN_LOGINS"
)

// A Folder has the files of a user.
type Folder struct{ path string }

// Open returns the folder of this user. It may not exist.
func Open() (Folder, error) {
	if dir := os.Getenv(variable); dir != "" {
		if !filepath.IsAbs(dir) {
			return Folder{}, cli.Usage(fmt.Errorf("%s is %q", variable, dir), "name the folder with its absolute path")
		}
		return At(dir), nil
	}
	state, err := files.StateDir()
	if err != nil {
		return Folder{}, cli.Failed(err, "set HOME, or name a folder for logins in "+variable)
	}
	return At(filepath.Join(state, "logins")), nil
}

// At returns the folder with a path.
func At(path string) Folder { return Folder{filepath.Clean(path)} }

// Path returns where the folder is.
func (f Folder) Path() string { return f.path }

// File returns the file of a login. It may not exist.
func (f Folder) File(k Key) *File {
	k.URL = Canonical(k.URL)
	sum := sha256.Sum256([]byte(k.URL + "\x00" + k.Account + "\x00" + k.Agent))
	return &File{key: k, folder: f, path: filepath.Join(f.path, hostOf(k.URL)+"-"+hex.EncodeToString(sum[:8])+suffix)}
}

// All returns the files that exist.
func (f Folder) All() ([]*File, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	var all []*File
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			all = append(all, &File{folder: f, path: filepath.Join(f.path, e.Name())})
		}
	}
	return all, nil
}

// Forget removes the files without tokens, and then the folder and those above it in the home
// directory, as far as they are empty. It returns how many files with tokens stay.
func (f Folder) Forget(ctx context.Context) (kept int, err error) {
	all, err := f.All()
	for _, file := range all {
		stays, failed := file.Forget(ctx)
		if stays {
			kept++
		}
		err = errors.Join(err, failed)
	}
	f.Tidy()
	return kept, err
}

// Tidy removes the folder and those above it in the home directory, as far as they are empty.
func (f Folder) Tidy() {
	home, err := os.UserHomeDir()
	if err != nil {
		return
	}
	for dir := f.path; strings.HasPrefix(dir, home+string(filepath.Separator)) && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
}

// Canonical returns the URL of a server without user, default port, and differences in case that
// mean nothing.
func Canonical(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	u.User, u.Fragment = nil, ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if byDefault := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; byDefault != "" {
		u.Host = strings.TrimSuffix(u.Host, byDefault)
	}
	u.Path = cmp.Or(u.Path, "/")
	return u.String()
}

// hostOf returns the host of a URL as a part of a file's name.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "server"
	}
	host := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, u.Hostname())
	return cmp.Or(strings.TrimLeft(host[:min(len(host), 80)], ".-"), "server")
}

// ready makes the folder, or checks and repairs it. It returns a warning, or "".
func (f Folder) ready() (warning string, err error) {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return "", fmt.Errorf("the folder of logins cannot be made: %w", err)
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return "", err
	}
	return checkFolder(f.path, info)
}
