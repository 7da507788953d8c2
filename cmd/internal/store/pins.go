package store

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

// A ItemKey identifies an item.
type ItemKey struct {
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

// NewPin returns the pin of an item with a definition. It keeps the definition.
func NewPin(server, era string, definition []byte) Pin {
	p := Pin{Server: server, Era: era, RefID: mcpwire.RefID(definition)}
	if len(definition) <= maxDefinition {
		p.Definition = definition
	}
	return p
}

// A Pins holds the pins of many items.
type Pins map[ItemKey]Pin

// Keys returns the items in the order of the file: by kind, then by name.
func (s Pins) Keys() (keys []*ItemKey) {
	for k := range s {
		keys = append(keys, &k)
	}
	slices.SortFunc(keys, func(a, b *ItemKey) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return keys
}

// String returns the kind and the name, as they are.
func (k ItemKey) String() string { return fmt.Sprintf("%s %s", k.Kind, k.Name) }

// Eras returns the era of each server's pins, without servers with pins of both eras.
func (s Pins) Eras() map[string]string {
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

// KeepPins returns now with those pins of old whose servers are in unknown: nothing else is known
// of what these servers offer.
func KeepPins(old, now Pins, unknown []string) Pins {
	kept := maps.Clone(now)
	for k, p := range old {
		if _, offered := kept[k]; !offered && slices.Contains(unknown, p.Server) {
			kept[k] = p
		}
	}
	return kept
}

// AcceptPins returns old with the named items as they are in now; those that now lacks are removed.
// A name stands for items of all kinds. If neither set has some of the names, AcceptPins returns
// these instead.
func AcceptPins(old, now Pins, names []string) (next Pins, unknown []string) {
	next = maps.Clone(old)
	for _, name := range names {
		known := false
		for kind := range mcpwire.Kind(mcpwire.Kinds) {
			k := ItemKey{kind, name}
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
