package pins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"toolman/cmd/internal/plainjson"
	"toolman/cmd/internal/store"
	"toolman/mcpwire"
	"toolman/router/toolset"
)

// maxFile is the largest file that is read or written, in bytes.
const maxFile = 256 << 20

// header is the first line.
const header = `{"toolman_lock":1}`

// Path returns the path of the lock file that belongs to a configuration: tools.lock beside
// tools.toml.
func Path(config string) string {
	return strings.TrimSuffix(config, filepath.Ext(config)) + ".lock"
}

// Load reads a lock file. One that does not exist is an error of fs.ErrNotExist.
func Load(path string) (Set, error) {
	text, err := store.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	return parse(path, text)
}

// Update replaces the lock file by what change makes of it; old is nil if there is no file. If the
// file cannot be parsed or change fails, Update leaves the file as it was.
func Update(ctx context.Context, path string, change func(old Set) (Set, error)) error {
	return store.Update(ctx, path, maxFile, func(text []byte) ([]byte, error) {
		var old Set
		if text != nil {
			var err error
			if old, err = parse(path, text); err != nil {
				return nil, err
			}
		}
		next, err := change(old)
		if err != nil {
			return nil, err
		}
		return next.render(), nil
	})
}

// A line is one item in the file.
type line struct {
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Server     string          `json:"server"`
	Era        string          `json:"era"`
	RefID      string          `json:"refId"`
	Definition json.RawMessage `json:"definition,omitempty"`
}

// render returns the text of the file.
func (s Set) render() []byte {
	text := append([]byte(header), '\n')
	for _, k := range s.Keys() {
		text = append(append(text, render(k, s[k])...), '\n')
	}
	return text
}

func render(k Key, p Pin) []byte {
	return plainjson.Line(line{k.Kind.String(), k.Name, p.Server, p.Era, p.RefID, p.Definition})
}

// An Error says what is wrong with a lock file.
type Error struct {
	Path string
	Line int // from 1
	Msg  string
}

// Error is "file:line: what is wrong".
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg) }

// ExitCode is toolman's exit code for the error: that of a wrong configuration.
func (e *Error) ExitCode() int { return 2 }

// parse parses the text of a file. Line ends may be those of Windows.
func parse(path string, text []byte) (Set, error) {
	set := Set{}
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
		var err error
		if n == 1 {
			err = checkHeader(raw)
		} else {
			err = set.add(raw)
		}
		if err != nil {
			return nil, &Error{path, n, err.Error()}
		}
	}
	if n == 0 {
		return nil, &Error{path, 1, "it is empty; " + restore}
	}
	return set, nil
}

const restore = "restore it from version control, or remove it and write it anew with toolman lock"

func checkHeader(raw []byte) error {
	var h struct {
		Version *json.Number `json:"toolman_lock"`
	}
	switch err := json.Unmarshal(raw, &h); {
	case string(raw) == header:
		return nil
	case err == nil && h.Version != nil:
		return errors.New("it is of another version of the format than 1, the only one that this toolman knows; use a newer toolman, or " + restore)
	}
	return errors.New("this is no lock file: it does not begin with " + header + "; " + restore)
}

// add adds the item of one line.
func (s Set) add(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("<<<<<<<")) || bytes.HasPrefix(raw, []byte("=======")) || bytes.HasPrefix(raw, []byte(">>>>>>>")) {
		return errors.New("a merge has left a conflict here; keep the lines of items that you mean, each item once")
	}
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return errors.New("this is no item; " + restore)
	}
	kind, ok := kindOf(l.Kind)
	k, p := Key{kind, l.Name}, Pin{l.Server, l.Era, l.RefID, l.Definition}
	switch {
	case !ok || !bytes.Equal(render(k, p), raw):
		return errors.New("this line is not as toolman lock writes it; " + restore)
	case mcpwire.ParseEra(p.Era) == mcpwire.Unknown:
		return errors.New("era is neither legacy nor modern; " + restore)
	case p.Definition != nil && (p.Definition[0] != '{' || p.RefID != mcpwire.RefID(p.Definition)):
		return errors.New("refId is not the hash of this definition; " + restore)
	case !toolset.ValidRefID(p.RefID):
		return errors.New("refId is no sha256 hash; " + restore)
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
