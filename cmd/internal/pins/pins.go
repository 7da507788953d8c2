package pins

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"toolman/mcpwire"
)

// maxDefinition is the longest definition that is stored, in bytes.
const maxDefinition = 64 << 10

// A Key identifies an item.
type Key struct {
	Kind mcpwire.Kind
	Name string // as clients see it
}

// A Pin records what an item was.
type Pin struct {
	Server     string
	Era        string // of the server: "legacy" or "modern"
	RefID      string
	Definition json.RawMessage // canonical JSON; nil if it was too long to be stored
}

// New returns the pin of an item with a definition. It keeps the definition.
func New(server, era string, definition []byte) Pin {
	p := Pin{Server: server, Era: era, RefID: mcpwire.RefID(definition)}
	if len(definition) <= maxDefinition {
		p.Definition = definition
	}
	return p
}

// A Set holds the pins of many items.
type Set map[Key]Pin

// Keys returns the items in the order of the file: by kind, then by name.
func (s Set) Keys() []Key {
	return slices.SortedFunc(maps.Keys(s), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

// String returns the kind and the name, as they are.
func (k Key) String() string { return fmt.Sprintf("%s %s", k.Kind, k.Name) }

// Eras returns the era of each server's pins, without servers with pins of both eras.
func (s Set) Eras() map[string]string {
	eras := map[string]string{}
	mixed := map[string]bool{}
	for _, p := range s {
		if was, known := eras[p.Server]; known && was != p.Era {
			mixed[p.Server] = true
		}
		eras[p.Server] = p.Era
	}
	maps.DeleteFunc(eras, func(server, _ string) bool { return mixed[server] })
	return eras
}

// Keep returns now with those pins of old whose servers are in unknown: nothing else is known of
// what these servers offer.
func Keep(old, now Set, unknown []string) Set {
	kept := maps.Clone(now)
	for k, p := range old {
		if _, offered := kept[k]; !offered && slices.Contains(unknown, p.Server) {
			kept[k] = p
		}
	}
	return kept
}

// Accept returns old with the named items as they are in now; those that now lacks are removed. A
// name stands for items of all kinds. If neither set has some of the names, Accept returns these
// instead.
func Accept(old, now Set, names []string) (next Set, unknown []string) {
	next = maps.Clone(old)
	for _, name := range names {
		known := false
		for kind := range mcpwire.Kind(mcpwire.Kinds) {
			k := Key{kind, name}
			pin, has := now[k]
			_, had := next[k]
			if has {
				next[k] = pin
			} else {
				delete(next, k)
			}
			known = known || has || had
		}
		if !known {
			unknown = append(unknown, name)
		}
	}
	if unknown != nil {
		return nil, unknown
	}
	return next, nil
}
