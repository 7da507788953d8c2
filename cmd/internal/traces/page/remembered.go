package page

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
)

// maxRemembered is how many addresses are remembered.
const maxRemembered = 16

// An address is where traces were shown last. They are shown there again, so that a page that
// is still open connects to it and continues.
type address struct {
	Files []string `json:"files"` // their absolute paths
	Port  int      `json:"port"`
	Token string   `json:"token"`
}

// addresses is the file with the addresses that were used last, the latest first. Nobody but the
// user may read it.
type addresses struct{ path string }

func openAddresses() (addresses, error) {
	dir, err := files.StateDir()
	return addresses{filepath.Join(dir, "viewer.json")}, err
}

func (a addresses) read() (all []address) {
	text, err := os.ReadFile(a.path)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil // it is only for convenience
	}
	return all
}

// of returns the address of some files; nil if it is not known.
func (a addresses) of(paths []string) *address {
	for _, one := range a.read() {
		if slices.Equal(one.Files, paths) && 0 < one.Port && one.Port < 1<<16 && len(one.Token) >= len(newToken()) {
			return &one
		}
	}
	return nil
}

// remember puts an address first.
func (a addresses) remember(used address) error {
	all := slices.DeleteFunc(a.read(), func(one address) bool { return slices.Equal(one.Files, used.Files) })
	all = slices.Insert(all, 0, used)
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return err
	}
	return files.Replace(a.path, func(out io.Writer) error {
		_, err := out.Write(cli.JSON(all[:min(len(all), maxRemembered)]))
		return err
	})
}
