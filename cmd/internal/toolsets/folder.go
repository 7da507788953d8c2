package toolsets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/plainjson"
	"toolman/cmd/internal/store"
	"toolman/router/toolset"
)

// maxFile is the longest file, in bytes.
const maxFile = 4 << 20

// A Folder holds the files. It is a [toolset.Shelf].
type Folder struct{ path string }

// In returns the folder of the configuration at path.
func In(config string) Folder { return Folder{filepath.Join(filepath.Dir(config), ".toolman")} }

// Sets returns the path of the file with the toolsets.
func (f Folder) Sets() string { return filepath.Join(f.path, "toolsets.json") }

func (f Folder) equipped() string { return filepath.Join(f.path, "equipped.json") }

// Load implements [toolset.Shelf]. Without the file there are no toolsets.
func (f Folder) Load() (map[string]toolset.Set, error) {
	text, err := store.Read(f.Sets(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]toolset.Set{}, nil
	}
	if err != nil {
		return nil, err
	}
	return f.parse(text)
}

func (f Folder) parse(text []byte) (map[string]toolset.Set, error) {
	sets, err := Parse(text)
	if err == nil {
		return sets, nil
	}
	at := f.Sets()
	if p, ok := errors.AsType[*problem](err); ok {
		at, err = fmt.Sprintf("%s:%d", at, p.line), errors.New(p.msg)
	}
	return nil, fmt.Errorf("%s: %w; correct the file or move it away (it is left as it is)", at, err)
}

// Update implements [toolset.Shelf].
func (f Folder) Update(ctx context.Context, change func(map[string]toolset.Set) error) error {
	return f.update(ctx, f.Sets(), func(old []byte) ([]byte, error) {
		sets := map[string]toolset.Set{}
		if old != nil {
			var err error
			if sets, err = f.parse(old); err != nil {
				return nil, err
			}
		}
		if err := change(sets); err != nil {
			return nil, err
		}
		text := Format(sets)
		_, err := Parse(text) // write nothing that could not be read again
		return text, err
	})
}

func (f Folder) update(ctx context.Context, path string, change func(old []byte) ([]byte, error)) error {
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return err
	}
	return store.Update(ctx, path, maxFile, change)
}

// ReadFile reads toolsets in the format of toolsets.json from a file; - is stdin.
func ReadFile(path string, stdin io.Reader) (map[string]toolset.Set, error) {
	var text []byte
	var err error
	if path == "-" {
		if text, err = io.ReadAll(io.LimitReader(stdin, maxFile+1)); len(text) > maxFile {
			err = fmt.Errorf("it is longer than %d bytes", maxFile)
		}
	} else {
		text, err = store.Read(path, maxFile)
	}
	var sets map[string]toolset.Set
	if err == nil {
		sets, err = Parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("reading toolsets from %s: %w", path, err)
	}
	return sets, nil
}

// Equipped returns the name of the toolset that is equipped at start, or "".
func (f Folder) Equipped() (string, error) {
	text, err := store.Read(f.equipped(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return f.parseEquipped(text)
}

// Equip equips a toolset at the next start, or none for "".
func (f Folder) Equip(ctx context.Context, name string) error {
	return f.update(ctx, f.equipped(), func(old []byte) ([]byte, error) {
		if old != nil {
			if _, err := f.parseEquipped(old); err != nil {
				return nil, err
			}
		}
		if name == "" {
			return []byte("{}\n"), nil
		}
		return fmt.Appendf(nil, "{\"toolset\": %s}\n", plainjson.Line(name)), nil
	})
}

func (f Folder) parseEquipped(text []byte) (name string, err error) {
	err = readFile(text, func(m source.Member) error {
		if m.Key != "toolset" {
			return fail(m.Line, "%q is not known here", m.Key)
		}
		return readString(m, &name, toolset.NameRule, toolset.ValidName)
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w; correct the file or remove it", f.equipped(), err)
	}
	return name, nil
}
