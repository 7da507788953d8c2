package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/mcpwire"
	"toolman/router/toolset"
)

// maxLockFile is the largest file that is read or written, in bytes.
const maxLockFile = 256 << 20

// lockHeader is the first line.
const lockHeader = `{"toolman_lock":1}`

// LockPath returns the path of the lock file that belongs to a configuration: tools.lock beside
// tools.toml.
func LockPath(config string) string {
	return strings.TrimSuffix(config, filepath.Ext(config)) + ".lock"
}

// LoadPins reads a lock file. One that does not exist is an error of fs.ErrNotExist.
func LoadPins(path string) (Pins, error) {
	text, err := source.Read(path, maxLockFile)
	if err != nil {
		return nil, err
	}
	return parsePins(path, text)
}

// UpdatePins replaces the lock file by what change makes of it; old is nil if there is no file. If
// the file cannot be parsed or change fails, Update leaves the file as it was.
func UpdatePins(ctx context.Context, path string, change func(old Pins) (Pins, error)) error {
	return update(ctx, path, maxLockFile, func(text []byte) ([]byte, error) {
		old, err := parsePins(path, text)
		if err != nil {
			return nil, err
		}
		next, err := change(old)
		if err != nil {
			return nil, err
		}
		return next.render(), nil
	})
}

// A pinLine is one item in the file.
type pinLine struct {
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Server     string          `json:"server"`
	Era        string          `json:"era"`
	RefID      string          `json:"refId"`
	Definition json.RawMessage `json:"definition,omitempty"`
}

// render returns the text of the file.
func (s Pins) render() []byte {
	text := append([]byte(lockHeader), '\n')
	for _, k := range s.Keys() {
		text = append(append(text, render(*k, s[*k])...), '\n')
	}
	return text
}

func render(k ItemKey, p Pin) []byte {
	return cli.JSON(pinLine{k.Kind.String(), k.Name, p.Server, p.Era, p.RefID, p.Definition})
}

// parsePins parses the text of a file; nil stands for no file. Line ends may be those of Windows.
func parsePins(path string, text []byte) (Pins, error) {
	if text == nil {
		return nil, nil
	}
	set := Pins{}
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
		var err error
		if n == 1 {
			err = checkLockHeader(raw)
		} else {
			err = set.add(raw)
		}
		if err != nil {
			return nil, lockError(path, n, err)
		}
	}
	if n == 0 {
		return nil, lockError(path, 1, errors.New("it is empty; "+restore))
	}
	return set, nil
}

// lockError says what is wrong with a line.
func lockError(path string, line int, err error) error {
	return cli.Usage(fmt.Errorf("%s:%d: %w", path, line, err), "")
}

const restore = "restore it from version control, or remove it and write it anew with toolman lock"

func checkLockHeader(raw []byte) error {
	var h struct {
		Version *json.Number `json:"toolman_lock"`
	}
	switch err := json.Unmarshal(raw, &h); {
	case string(raw) == lockHeader:
		return nil
	case err == nil && h.Version != nil:
		return errors.New("this toolman reads version 1 of the format only; use a newer toolman, or " + restore)
	}
	return errors.New("this is not a lock file: it does not begin with " + lockHeader + "; " + restore)
}

// add adds the item of one line.
func (s Pins) add(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("<<<<<<<")) || bytes.HasPrefix(raw, []byte("=======")) || bytes.HasPrefix(raw, []byte(">>>>>>>")) {
		return errors.New("a merge has left a conflict here; keep the lines of items that you mean, each item once")
	}
	var l pinLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return errors.New("this is not an item; " + restore)
	}
	kind, ok := kindOf(l.Kind)
	k, p := ItemKey{kind, l.Name}, Pin{l.Server, l.Era, l.RefID, l.Definition}
	switch {
	case !ok || !bytes.Equal(render(k, p), raw):
		return errors.New("this line is not as toolman lock writes it; " + restore)
	case mcpwire.ParseEra(p.Era) == mcpwire.Unknown:
		return errors.New("era is neither legacy nor modern; " + restore)
	case p.Definition != nil && (p.Definition[0] != '{' || p.RefID != mcpwire.RefID(p.Definition)):
		return errors.New("refId is not the hash of this definition; " + restore)
	case !toolset.ValidRefID(p.RefID):
		return errors.New("refId is not a SHA-256 hash; " + restore)
	}
	if _, twice := s[k]; twice {
		return fmt.Errorf("%s %q has a line already; keep one of the two", k.Kind, k.Name)
	}
	s[k] = p
	return nil
}

func kindOf(word string) (mcpwire.Kind, bool) {
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		if k.String() == word {
			return k, true
		}
	}
	return 0, false
}
