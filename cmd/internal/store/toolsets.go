package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/router/toolset"
)

// maxToolsetFile is the longest file, in bytes.
const maxToolsetFile = 4 << 20

// Toolsets is the folder with the files about toolsets. It is a [toolset.Shelf].
type Toolsets struct{ path string }

// ToolsetsBeside returns the folder of the configuration at path.
func ToolsetsBeside(config string) Toolsets {
	return Toolsets{filepath.Join(filepath.Dir(config), ".toolman")}
}

// Sets returns the path of the file with the toolsets.
func (f Toolsets) Sets() string { return filepath.Join(f.path, "toolsets.json") }

func (f Toolsets) file(text []byte) *setFile {
	return &setFile{path: f.Sets(), name: toolset.SavedIn, text: text}
}

func (f Toolsets) equipped() string { return filepath.Join(f.path, "equipped.json") }

// Load implements [toolset.Shelf]. Without the file there are no toolsets.
func (f Toolsets) Load() (map[string]toolset.Set, error) {
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	return f.Parse(text)
}

// Text returns the file with the toolsets, or nil if there is none.
func (f Toolsets) Text() ([]byte, error) { return readIfExists(f.Sets()) }

// Copy replaces the file with the toolsets by a text of another place. With keep, toolsets.json.old
// is what was there, unless that file exists.
func (f Toolsets) Copy(text []byte, keep bool) error {
	old, err := f.Text()
	if err == nil && bytes.Equal(old, text) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), copyTime)
	defer cancel()
	return f.update(ctx, f.Sets(), func(old []byte) ([]byte, error) {
		kept := f.Sets() + ".old"
		if _, err := os.Stat(kept); old == nil || err == nil || !keep {
			return text, nil
		}
		return text, write(kept, old, 0o644)
	})
}

// copyTime is how long Copy waits for other programs that change the file.
const copyTime = 2 * time.Second

// readIfExists returns the content of a file, or nil if there is none.
func readIfExists(path string) ([]byte, error) {
	text, err := source.Read(path, maxToolsetFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Parse parses the file with the toolsets; nil stands for no file.
func (f Toolsets) Parse(text []byte) (map[string]toolset.Set, error) {
	if text == nil {
		return map[string]toolset.Set{}, nil
	}
	sets, err := f.file(text).parse()
	if err != nil {
		return nil, fmt.Errorf("%w; correct the file or move it away (it is left as it is)", err)
	}
	return sets, nil
}

// Update implements [toolset.Shelf].
func (f Toolsets) Update(ctx context.Context, change func(map[string]toolset.Set) error) error {
	return f.update(ctx, f.Sets(), func(old []byte) ([]byte, error) { return f.Changed(old, change) })
}

// Changed returns what the file with the toolsets has after a change.
func (f Toolsets) Changed(old []byte, change func(map[string]toolset.Set) error) ([]byte, error) {
	sets, err := f.Parse(old)
	if err == nil {
		err = change(sets)
	}
	if err != nil {
		return nil, err
	}
	text := FormatToolsets(sets)
	again, err := f.file(text).parse()
	if before := problemsOf(sets); err == nil && !slices.Equal(problemsOf(again), before) {
		err = fmt.Errorf("%s would not be read again: %q", f.Sets(), problemsOf(again))
	}
	return text, err
}

// problemsOf returns the keys of what is broken, with the number of references in each toolset.
func problemsOf(sets map[string]toolset.Set) (broken []string) {
	for key, set := range sets {
		n := 0
		for _, ref := range set.Tools {
			if ref.Broken != "" {
				n++
			}
		}
		if set.Broken != "" || n > 0 {
			broken = append(broken, fmt.Sprintf("%s %d", key, n))
		}
	}
	slices.Sort(broken)
	return broken
}

func (f Toolsets) update(ctx context.Context, path string, change func(old []byte) ([]byte, error)) error {
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return err
	}
	return update(ctx, path, maxToolsetFile, change)
}

// ReadToolsets reads toolsets in the format of toolsets.json, or one of them alone, from a file; -
// is stdin. Some may be broken.
func ReadToolsets(path string, stdin io.Reader) (map[string]toolset.Set, error) {
	var text []byte
	var err error
	if path == "-" {
		path = "standard input"
		if text, err = io.ReadAll(io.LimitReader(stdin, maxToolsetFile+1)); len(text) > maxToolsetFile {
			err = fmt.Errorf("it is longer than %d bytes", maxToolsetFile)
		}
	} else {
		text, err = source.Read(path, maxToolsetFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading toolsets from %s: %w", path, err)
	}
	f := setFile{path: path, name: path, text: text, one: true}
	return f.parse()
}

// Equipped returns the name of the toolset that is equipped at start, or "".
func (f Toolsets) Equipped() (string, error) {
	text, err := readIfExists(f.equipped())
	if err != nil {
		return "", err
	}
	return f.parseEquipped(text)
}

// Equip equips a toolset at the next start, or none for "".
func (f Toolsets) Equip(ctx context.Context, name string) error {
	return f.update(ctx, f.equipped(), func(old []byte) ([]byte, error) {
		if _, err := f.parseEquipped(old); err != nil {
			return nil, err
		}
		if name == "" {
			return []byte("{}\n"), nil
		}
		return fmt.Appendf(nil, "{\"toolset\": %s}\n", cli.JSON(name)), nil
	})
}

// parseEquipped parses the file with the name; nil stands for no file.
func (f Toolsets) parseEquipped(text []byte) (name string, err error) {
	if text == nil {
		return "", nil
	}
	err = decodeFile(f.equipped(), text, func(root source.Node, p *source.Problems) {
		name = textOf(table.New(p, root, "in the file", "toolset"), "toolset", "write "+toolset.NameRule, toolset.ValidName)
	})
	if err != nil {
		return "", fmt.Errorf("%w; correct the file or remove it", err)
	}
	return name, nil
}
