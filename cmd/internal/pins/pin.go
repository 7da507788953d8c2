package pins

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"toolman/mcpwire"
)

// maxDefinition is the longest definition that is kept, in bytes.
const maxDefinition = 64 << 10

// A Key names an item.
type Key struct {
	Kind mcpwire.Kind
	Name string // as clients see it
}

// A Pin is what an item was.
type Pin struct {
	Server     string
	Era        string // in which the server was spoken to: "legacy" or "modern"
	RefID      string
	Definition json.RawMessage // canonical JSON; nil when it was too long to be kept
}

// New returns the pin of an item with this definition, which it keeps.
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
func (s Set) Keys() []Key { return sorted(maps.Keys(s)) }

// String returns the kind and the name, as they are.
func (k Key) String() string { return fmt.Sprintf("%s %s", k.Kind, k.Name) }

// Eras returns in which era each server was spoken to, without those whose pins are of both.
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

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Kind, other.Kind), cmp.Compare(k.Name, other.Name))
}

func sorted(keys func(func(Key) bool)) []Key { return slices.SortedFunc(keys, Key.compare) }

// kindsOf are the items that a name may be of.
func kindsOf(name string) []Key {
	var keys []Key
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		keys = append(keys, Key{k, name})
	}
	return keys
}
