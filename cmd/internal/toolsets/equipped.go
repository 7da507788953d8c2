package toolsets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"toolman/cmd/internal/store"
	"toolman/router/toolset"
)

// Equipped returns the name of the toolset that a start begins with, "" for none.
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

// Equip has the next start begin with a toolset, with none for "".
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
		quoted, err := json.Marshal(name)
		return fmt.Appendf(nil, "{\"toolset\": %s}\n", quoted), err
	})
}

func (f Folder) parseEquipped(text []byte) (name string, err error) {
	p := newParser(text)
	err = p.file(func(key string) error {
		if key != "toolset" {
			return p.fail("%q is not known here", key)
		}
		return p.str(&name, key, toolset.NameRule, toolset.ValidName)
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w; correct the file or remove it", f.equipped(), err)
	}
	return name, nil
}
